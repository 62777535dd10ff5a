import Type, { type Static } from 'typebox'
import { LIMIT_PATTERN, PAGE_PATTERN, pageOfList } from './cross-chain-requests.ts'
import { defiNetworks, swapStatuses } from './defi.ts'
import {
  amountInput,
  boundedText,
  externalIdInput,
  knownTickerInput,
  percentInput,
  percentMember,
  tokenAmountMember,
  tokenAmountOrZeroMember,
  wordOf,
} from './scalars.ts'

const ADDRESS_LENGTH_MAX = 256
const HASH_LENGTH_MAX = 256
/** Leaves space for the other members in a body of 64 KiB. */
const RAW_LENGTH_MAX = 62_000
const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const native = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const account = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
const hash = '0x9f2c4b1d0e6a78353c2f8e7d6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b'

export const defiNetworkInput = knownTickerInput(defiNetworks, {
  description: `Network ticker: ${defiNetworks.map((name) => `\`${name}\``).join(', ')}; in any case. Common aliases are accepted.`,
  examples: ['eth'],
})
const address = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: ADDRESS_LENGTH_MAX, description, examples: [example] })
const hashInput = (description: string) => boundedText(HASH_LENGTH_MAX, { description, examples: [hash] })
const tokens = {
  fromTokenAddress: address('Token to swap; the placeholder address for the native coin.', native),
  toTokenAddress: address('Token to receive.', usdc),
}
const slippage = {
  description: 'Maximum accepted slippage below the quote, in percent, 0.01 to 50.',
  examples: ['0.5'],
}
const referrerFee = { description: "The partner's fee in percent of the output, 0 to 5.", examples: ['0.3'] }
const maxPriceImpact = {
  description:
    "Highest accepted loss in percent, 0 to 100, against the pools' middle price and against reference prices. Without it the operator's limits apply (15 and 10 by default). Additive.",
  examples: ['20'],
}
const amountNotes = { description: 'Amount to swap.', examples: ['1.5'] }
const numberNote = 'Text, or a JSON number of at most 15 significant digits.'

export const TokenQuery = Type.Object({ network: defiNetworkInput, address: address('Token contract.', usdc) })
export type TokenQuery = Static<typeof TokenQuery>

export const TokensQuery = Type.Object({
  network: defiNetworkInput,
  page: Type.Optional(
    Type.String({ pattern: PAGE_PATTERN, description: '1-based page number.', default: '1', examples: ['1'] }),
  ),
  limit: Type.Optional(
    Type.String({
      pattern: LIMIT_PATTERN,
      description: 'Items per page, 1 to 500.',
      default: '100',
      examples: ['100'],
    }),
  ),
})
export type TokensQuery = Static<typeof TokensQuery>

export const SwapQuoteQuery = Type.Object({
  network: defiNetworkInput,
  ...tokens,
  amount: amountInput(amountNotes),
  slippage: percentInput(slippage),
  referrerFee: percentInput(referrerFee),
  maxPriceImpact: Type.Optional(percentInput(maxPriceImpact)),
})
export type SwapQuoteQuery = Static<typeof SwapQuoteQuery>

export const SwapListQuery = Type.Object({
  status: Type.Optional(wordOf(swapStatuses, { description: 'Only this status.', examples: ['finished'] })),
  fromTokenAddress: Type.Optional(address('Only this source token.', native)),
  toTokenAddress: Type.Optional(address('Only this target token.', usdc)),
  network: Type.Optional(knownTickerInput(defiNetworks, { description: 'Only this network.', examples: ['eth'] })),
  hash: Type.Optional(hashInput('Only the swap with this transaction hash. Additive.')),
  account: Type.Optional(address('Only swaps of this sender. Additive.', account)),
  externalId: Type.Optional(externalIdInput({ description: 'Only swaps with this id of yours. Additive.' })),
  ...pageOfList,
})
export type SwapListQuery = Static<typeof SwapListQuery>

/** One of the two members is required. */
export const SwapStatusQuery = Type.Object({
  id: Type.Optional(
    Type.String({
      maxLength: 256,
      description: 'Id of the swap. Required without `hash`.',
      examples: ['0198c5a2-7c1e-7b3a-9f0d-2f6f1c0a9b7e'],
    }),
  ),
  hash: Type.Optional(hashInput('Transaction hash of the swap. Required without `id`.')),
})
export type SwapStatusQuery = Static<typeof SwapStatusQuery>

export const BuildSwapBody = Type.Object({
  account: address('Sender, who signs the transactions.', account),
  ...tokens,
  amount: tokenAmountMember({ ...amountNotes, description: `Amount to swap. ${numberNote}` }),
  slippage: percentMember(slippage),
  referrerFee: percentMember(referrerFee),
  maxPriceImpact: Type.Optional(percentMember(maxPriceImpact)),
  network: defiNetworkInput,
  recipient: Type.Optional(
    address(
      'Who receives the output; the sender by default. Not a token of the swap, the wrapped coin or a contract of the service. On `sol` only the sender can. Additive.',
      account,
    ),
  ),
  format: Type.Optional(
    wordOf(['raw'], { description: 'Form of the answer: unsigned transactions. Additive.', examples: ['raw'] }),
  ),
  externalId: Type.Optional(
    externalIdInput({
      description:
        'Your own id of the swap, 1 to 64 printable ASCII characters. The swap has it once it was sent, within 30 days and unless `/v1/defi/send/swap` names another one. Additive.',
      examples: ['order-1029'],
    }),
  ),
})
export type BuildSwapBody = Static<typeof BuildSwapBody>

export const SendApprovalBody = Type.Object({
  network: defiNetworkInput,
  rawApproveTx: Type.String({
    minLength: 1,
    maxLength: RAW_LENGTH_MAX,
    description: 'The signed approval transaction.',
    examples: ['0x02f8b1'],
  }),
})
export type SendApprovalBody = Static<typeof SendApprovalBody>

export const SendSwapBody = Type.Object({
  account: address('Receiver.', account),
  amountFrom: tokenAmountOrZeroMember({
    description: `Amount sent; may be 0 if \`isExchange\` is false. ${numberNote}`,
    examples: ['1.5'],
  }),
  amountTo: tokenAmountOrZeroMember({
    description: `Amount to be received; may be 0 if \`isExchange\` is false. ${numberNote}`,
    examples: ['1497.7'],
  }),
  ...tokens,
  network: defiNetworkInput,
  commissionPercentage: percentMember({ description: 'The `referrerFee` of the build request.', examples: ['0.3'] }),
  rawTx: Type.Optional(
    boundedText(RAW_LENGTH_MAX, {
      description:
        'The signed swap transaction. Required without `hash`. EVM: hexadecimal. Sui: what `signTransaction` of the SDKs returns, as JSON, or BCS of `SenderSignedData` in base64.',
      examples: ['0x02f8b1'],
    }),
  ),
  hash: Type.Optional(
    boundedText(HASH_LENGTH_MAX, {
      description: 'Hash of a transaction that was already broadcast.',
      examples: [hash],
    }),
  ),
  to: Type.Optional(
    boundedText(ADDRESS_LENGTH_MAX, { description: 'Recipient; the same as `account`.', examples: [account] }),
  ),
  isExchange: Type.Optional(
    Type.Boolean({
      description:
        'False for an approval or any transaction that is not a swap: it is broadcast without recording an exchange.',
      default: true,
      examples: [true],
    }),
  ),
  externalId: Type.Optional(
    externalIdInput({
      description:
        'Your own id of the swap, 1 to 64 printable ASCII characters. It is returned and filters lists. Absent: that of the build. The first one that was sent for a transaction stays. Additive.',
      examples: ['order-1029'],
    }),
  ),
})
export type SendSwapBody = Static<typeof SendSwapBody>
