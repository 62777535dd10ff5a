import Type, { type Static } from 'typebox'
import { textOrNull } from './scalars.ts'

export const Live = Type.Object(
  { status: Type.String({ examples: ['ok'], description: 'Always `ok`.' }) },
  { description: 'The process is running.' },
)
export const Ready = Type.Object(
  { status: Type.String({ examples: ['ready'], description: 'Always `ready`.' }) },
  { description: 'Ready: at least one direction can be quoted.' },
)

const network = Type.String({ minLength: 1, maxLength: 64, description: 'Network ticker.', examples: ['eth'] })
const currency = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "Ticker, or `native` for the network's native coin.",
  examples: ['native'],
})
const address = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'An address on the network.',
  examples: ['0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'],
})
const hash = '0x9f2c4b1d0e6a78353c2f8e7d6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b'

export const SandboxNetwork = Type.Object(
  {
    network: Type.String({ description: 'Network ticker.', examples: ['eth'] }),
    rpcUrl: Type.String({ description: 'JSON-RPC URL of its node.', examples: ['http://127.0.0.1:8545'] }),
    chainId: Type.Optional(Type.Integer({ description: 'EIP-155 chain id of the local chain.', examples: [31337] })),
    client: Type.String({ description: 'Program that runs the node.', examples: ['anvil'] }),
  },
  { additionalProperties: true, description: 'A local chain.' },
)
export const SandboxNetworks = Type.Array(SandboxNetwork, { description: 'All local chains.' })
export const SandboxWalletBody = Type.Object({ network }, { description: 'Network of the wallet.' })
export const SandboxWallet = Type.Object(
  {
    network: Type.String({ description: 'Network ticker.', examples: ['eth'] }),
    address: Type.String({ description: 'Its address.', examples: ['0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'] }),
    memo: textOrNull({ description: 'Its memo; null if the network has none.', examples: [null] }),
    privateKey: Type.String({ description: 'Its private key.', examples: [hash] }),
  },
  { description: 'A new wallet outside of this service.' },
)
export const SandboxDepositBody = Type.Object(
  {
    network,
    currency,
    address,
    memo: Type.Optional(Type.String({ maxLength: 256, description: 'Memo of the payment.', examples: ['12345'] })),
    amount: Type.String({ minLength: 1, maxLength: 80, description: 'Decimal amount.', examples: ['0.01'] }),
  },
  { description: 'A payment from the sandbox bank.' },
)
export const SandboxDeposit = Type.Object(
  { hash: Type.String({ description: 'Transaction hash.', examples: [hash] }) },
  { description: 'A payment that was sent.' },
)
export const SandboxBalanceQuery = Type.Object({ network, currency, address })
export const SandboxBalance = Type.Object(
  { amount: Type.String({ description: 'Decimal amount.', examples: ['0.01'] }) },
  { description: 'A balance.' },
)
export const SandboxBlocksBody = Type.Object(
  { network, count: Type.Integer({ minimum: 1, maximum: 1000, description: 'Blocks to mine.', examples: [1] }) },
  { description: 'Blocks to mine.' },
)
export const SandboxReorgsBody = Type.Object(
  {
    network,
    depth: Type.Integer({ minimum: 1, maximum: 50, description: 'Blocks to replace.', examples: [2] }),
    drop: Type.Optional(
      Type.Boolean({ description: "Drops the bank's payments of the replaced blocks for good.", examples: [false] }),
    ),
  },
  { description: 'Blocks to replace.' },
)
export const SandboxMiningBody = Type.Object(
  {
    network,
    paused: Type.Boolean({ description: '`true` stops the scheduled blocks, `false` resumes them.', examples: [true] }),
  },
  { description: 'Whether scheduled blocks are mined.' },
)
export const SandboxPricesBody = Type.Object(
  {
    currency: Type.String({ minLength: 1, maxLength: 64, description: 'Ticker.', examples: ['btc'] }),
    usd: textOrNull({
      description: 'US dollars per coin, in decimal text; null lets the price move again.',
      examples: ['96400'],
    }),
  },
  { description: 'A fixed reference price.' },
)
const exchangeId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Exchange id.',
  examples: ['0198c5a2-7c1e-7b3a-9f0d-2f6f1c0a9b7e'],
})
export const SandboxExpiryBody = Type.Object({ id: exchangeId }, { description: 'An exchange of your own.' })
export type SandboxExpiryBody = Static<typeof SandboxExpiryBody>
export const SandboxExpiry = Type.Object(
  {
    id: exchangeId,
    expiresAt: Type.String({
      format: 'date-time',
      description: 'Its new expiry: a time that has passed.',
      examples: ['2026-11-20T10:00:00.000Z'],
    }),
  },
  { description: 'An exchange whose time has ended.' },
)
/** The control server's JSON reply, passed through. */
export const SandboxReport = Type.Object({}, { additionalProperties: true, description: 'What the control did.' })
