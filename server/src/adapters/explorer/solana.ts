import type { Asset } from '../../core/domain/asset.ts'
import type {
  AddressFacts,
  AddressTransfer,
  AssetAmount,
  ChainExplorer,
  TransactionFacts,
} from '../../exchange/ports/explorer.ts'
import { createSolanaAddressFormat } from '../solana/address-format.ts'
import { toCount, toUnits } from '../solana/nodes.ts'
import { token2022Program, tokenProgram, wrappedSol } from '../solana/program-address.ts'
import { decodeTransaction } from '../solana/transaction.ts'
import { type ExplorerOptions, type Fields, fieldsOf, listOf, type Node, nativeOf, textOf, timeOf } from './node.ts'
import { describeInstruction } from './solana-instructions.ts'

/** Transactions on a page. */
const PAGE = 25
/** Token accounts of an owner whose transactions are searched: those may not name the owner. */
const TOKEN_ACCOUNTS_MAX = 8
const confirmed = { commitment: 'confirmed' }
const parsed = { encoding: 'jsonParsed', ...confirmed }

const { parse, parseHash } = createSolanaAddressFormat()

type Context = Readonly<{ node: Node; native: Asset; tokens: ReadonlyMap<string, Asset> }>
type Change = Readonly<{ address: string; direction: 'in' | 'out'; amount: AssetAmount }>

export function createSolanaExplorer({ network, node, assets }: Omit<ExplorerOptions, 'parse'>): ChainExplorer {
  const native = nativeOf(network, assets)
  const tokens = new Map(assets.flatMap((asset) => (asset.contract === null ? [] : [[asset.contract, asset]])))
  const context = { node, native, tokens: new Map([...tokens, [wrappedSol, native]]) }
  return {
    network,
    head: async () => {
      const reply = fieldsOf(await node.call('getLatestBlockhash', confirmed))
      const slot = toCount(fieldsOf(reply['context'])['slot'])
      return {
        ...{ height: BigInt(slot), hash: textOf(fieldsOf(reply['value'])['blockhash']) ?? '' },
        at: timeOf(toUnits(await node.call('getBlockTime', slot))),
      }
    },
    address: async (text) => {
      const address = parse(text)
      return address === null ? null : readAddress(context, address)
    },
    transaction: async (text) => {
      const hash = parseHash(text)
      return hash === null ? null : readTransaction(context, hash)
    },
    close: node.close,
  }
}

const nativeAmount = ({ native }: Context, units: bigint): AssetAmount => ({ units, asset: native, contract: null })
const tokenAmount = ({ tokens }: Context, mint: string, units: bigint): AssetAmount => ({
  ...{ units, asset: tokens.get(mint) ?? null, contract: mint },
})

type TokenAccount = Readonly<{ address: string; mint: string; units: bigint }>

async function readAddress(context: Context, address: string): Promise<AddressFacts> {
  const { node } = context
  const [balance, ownAccount, ...owned] = await Promise.all([
    node.call('getBalance', address, confirmed),
    readTokenAccount(node, address),
    ...[tokenProgram, token2022Program].map((program) => listTokenAccounts(node, address, program)),
  ])
  const accounts = [...(ownAccount === null ? [] : [ownAccount]), ...owned.flat()]
  const searched = [address, ...accounts.slice(0, TOKEN_ACCOUNTS_MAX).map((one) => one.address)]
  const transfers = await readTransfers(context, address, [...new Set(searched)])
  return {
    address,
    balances: [
      nativeAmount(context, toUnits(fieldsOf(balance)['value'])),
      ...accounts.filter(({ units }) => units > 0n).map(({ mint, units }) => tokenAmount(context, mint, units)),
    ],
    transfers,
    ...{ blocks: null, sentCount: null },
  }
}

const toTokenAccount = (address: string, account: unknown): TokenAccount | null => {
  const { type, info } = fieldsOf(fieldsOf(fieldsOf(account)['data'])['parsed'])
  const { mint, tokenAmount: amount } = fieldsOf(info)
  const units = fieldsOf(amount)['amount']
  return type === 'account' && typeof mint === 'string' ? { address, mint, units: toUnits(units) } : null
}

async function readTokenAccount(node: Node, address: string): Promise<TokenAccount | null> {
  return toTokenAccount(address, fieldsOf(await node.call('getAccountInfo', address, parsed))['value'])
}

async function listTokenAccounts(node: Node, owner: string, programId: string): Promise<readonly TokenAccount[]> {
  const reply = fieldsOf(await node.call('getTokenAccountsByOwner', owner, { programId }, parsed))
  return listOf(reply['value']).flatMap((row) => {
    const { pubkey, account } = fieldsOf(row)
    return toTokenAccount(String(pubkey), account) ?? []
  })
}

/** Changes of the address, newest first. */
async function readTransfers(
  context: Context,
  address: string,
  searched: readonly string[],
): Promise<readonly AddressTransfer[]> {
  const { node } = context
  const lists = await Promise.all(
    searched.map((one) => node.call('getSignaturesForAddress', one, { limit: PAGE, ...confirmed })),
  )
  const slots = new Map(
    lists.flatMap((list) => listOf(list).map(fieldsOf)).map((row) => [String(row['signature']), toUnits(row['slot'])]),
  )
  const newest = [...slots].sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, PAGE)
  const executed = await Promise.all(newest.map(([hash]) => readExecuted(node, hash)))
  return newest.flatMap(([hash, height], index) => {
    const found = executed[index]
    if (!found) return []
    return changesOf(context, found, address).map(({ direction, amount }) => ({
      ...{ hash, height, direction, counterparty: null, amount },
    }))
  })
}

type Executed = Readonly<{ slot: number; bytes: Buffer; meta: Fields; keys: readonly string[]; blockTime: unknown }>

/** A transaction; null if no confirmed block has it. */
async function readExecuted(node: Node, hash: string): Promise<Executed | null> {
  const options = { encoding: 'base64', maxSupportedTransactionVersion: 0, ...confirmed }
  const reply = await node.call('getTransaction', hash, options)
  if (reply === null) return null
  const { slot, transaction, meta: given, blockTime } = fieldsOf(reply)
  const meta = fieldsOf(given)
  const bytes = Buffer.from(String(listOf(transaction)[0]), 'base64')
  const { keys } = decodeTransaction(bytes, loadedOf(meta))
  return { slot: toCount(slot), bytes, meta, keys, blockTime }
}

const loadedOf = (meta: Fields) => {
  const { writable, readonly } = fieldsOf(meta['loadedAddresses'])
  return { writable: listOf(writable).map(String), readonly: listOf(readonly).map(String) }
}

type Holding = Readonly<{ account: string; owner: string; mint: string; units: bigint }>

const holdingsOf = (keys: readonly string[], list: unknown): readonly Holding[] =>
  listOf(list).map((row) => {
    const { accountIndex, owner, mint, uiTokenAmount } = fieldsOf(row)
    const units = toUnits(fieldsOf(uiTokenAmount)['amount'])
    return { account: keys[toCount(accountIndex)] ?? '', owner: String(owner), mint: String(mint), units }
  })

/**
 * What accounts gained and lost: lamports by account, tokens by their owner. `of`: only of this owner or account. The lamports of an
 * account of wrapped SOL are its tokens.
 */
function changesOf(context: Context, { meta, keys }: Executed, of: string | null): readonly Change[] {
  const [before, after] = [meta['preTokenBalances'], meta['postTokenBalances']].map((list) => holdingsOf(keys, list))
  const holdings = [...(before ?? []).map((one) => ({ ...one, units: -one.units })), ...(after ?? [])]
  const wrapped = new Set(holdings.filter(({ mint }) => mint === wrappedSol).map(({ account }) => account))
  const [lamportsBefore, lamportsAfter] = [listOf(meta['preBalances']), listOf(meta['postBalances'])]
  const lamports = keys.map((address, index) => ({
    ...{ address, amount: toUnits(lamportsAfter[index]) - toUnits(lamportsBefore[index]), mint: null },
  }))
  const tokens = new Map<string, { address: string; mint: string; amount: bigint }>()
  for (const { account, owner, mint, units } of holdings) {
    const address = of === account ? account : owner
    const sum = tokens.get(`${address} ${mint}`)?.amount ?? 0n
    tokens.set(`${address} ${mint}`, { address, mint, amount: sum + units })
  }
  return [...lamports.filter(({ address }) => !wrapped.has(address)), ...tokens.values()]
    .filter(({ address, amount }) => amount !== 0n && (of === null || address === of))
    .map(({ address, mint, amount }) => {
      const units = amount < 0n ? -amount : amount
      const sum = mint === null ? nativeAmount(context, units) : tokenAmount(context, mint, units)
      return { address, direction: amount < 0n ? 'out' : 'in', amount: sum }
    })
}

async function readCommitment(node: Node, hash: string): Promise<string | null> {
  const statuses = fieldsOf(await node.call('getSignatureStatuses', [hash], { searchTransactionHistory: true }))
  return textOf(fieldsOf(listOf(statuses['value'])[0])['confirmationStatus'])
}

async function readTransaction(context: Context, hash: string): Promise<TransactionFacts | null> {
  const { node } = context
  const [executed, commitment] = await Promise.all([readExecuted(node, hash), readCommitment(node, hash)])
  const nothing = { call: null, transfers: [], inputs: [], outputs: [] }
  if (executed === null)
    // In a block that is not confirmed yet, whose transactions the node does not return.
    return commitment === null ? null : { ...nothing, hash, status: 'waiting', block: null, fee: null }
  const { slot, bytes, meta, blockTime } = executed
  const { instructions, signers } = decodeTransaction(bytes, loadedOf(meta))
  const [block, head] = await Promise.all([
    node.call('getBlock', slot, { transactionDetails: 'none', rewards: false, ...confirmed }),
    node.call('getSlot', confirmed),
  ])
  const failure = meta['err'] === null ? null : JSON.stringify(meta['err'])
  return {
    ...{ ...nothing, hash, status: failure === null ? 'confirmed' : 'failed' },
    block: {
      ...{ height: BigInt(slot), hash: textOf(fieldsOf(block)['blockhash']) ?? '', at: timeOf(toUnits(blockTime)) },
      confirmations: BigInt(toCount(head) - slot + 1),
      commitment: commitment === 'finalized' ? 'finalized' : 'confirmed',
    },
    fee: nativeAmount(context, toUnits(meta['fee'])),
    program: {
      ...{ signers, payer: null, failure },
      changes: changesOf(context, executed, null),
      steps: instructions.map(describeInstruction),
    },
  }
}
