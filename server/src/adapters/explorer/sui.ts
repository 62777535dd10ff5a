import type { Asset } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import type {
  AddressFacts,
  AssetAmount,
  ChainExplorer,
  ProgramFacts,
  TransactionFacts,
} from '../../exchange/ports/explorer.ts'
import { present } from '../../lib/assert.ts'
import { createSuiAddressFormat, nativeCoin, parseCoinType } from '../sui/address-format.ts'
import { createSuiNode, statusOf } from '../sui/node.ts'
import { nativeOf, timeOf } from './node.ts'
import { describeCommand } from './sui-commands.ts'

type SuiExplorerOptions = Readonly<{ network: Network; url: string; assets: readonly Asset[] }>

/** Maximum wait of a page for one call. */
const TIMEOUT_MS = 5_000
/** Transactions on a page, and objects that are read for them. */
const PAGE = 25
const OBJECTS_MAX = 200
const executedPaths = [
  ...['digest', 'transaction.sender', 'transaction.gas_payment.owner', 'transaction.kind', 'effects.status'],
  ...['effects.gas_used', 'balance_changes', 'checkpoint', 'timestamp'],
]
const ADDRESS = /^0x[0-9a-fA-F]{64}$/

const { parseHash } = createSuiAddressFormat()

type Client = ReturnType<typeof createSuiNode>['client']
type Executed = NonNullable<Awaited<ReturnType<Client['ledgerService']['getTransaction']>['response']>['transaction']>
type Context = Readonly<{
  client: Client
  native: Asset
  tokens: ReadonlyMap<string, Asset>
  /** Calls the node. Null for what it does not have; throws NETWORK_UNAVAILABLE if it does not answer. */
  ask<T>(call: (options: { abort: AbortSignal }) => PromiseLike<{ response: T }>): Promise<T | null>
}>

export function createSuiExplorer({ network, url, assets }: SuiExplorerOptions): ChainExplorer {
  const { client } = createSuiNode(network.name, url)
  const native = nativeOf(network, assets)
  const tokens = new Map(
    assets.flatMap((asset) => (asset.contract === null ? [] : [[parseCoinType(asset.contract) ?? '', asset]])),
  )
  const context: Context = {
    ...{ client, native, tokens },
    async ask(call) {
      try {
        return (await call({ abort: AbortSignal.timeout(TIMEOUT_MS) })).response
      } catch (cause) {
        const status = statusOf(cause)
        if (status === 'NOT_FOUND' || status === 'INVALID_ARGUMENT') return null
        throw new AppError('NETWORK_UNAVAILABLE', `the node of ${network.name} does not answer`, { cause })
      }
    },
  }
  return {
    network,
    head: async () => {
      const { height, hash, at } = present(await readCheckpoint(context), 'the newest checkpoint')
      return { height, hash, at }
    },
    address: async (text) => (ADDRESS.test(text) ? readAddress(context, text.toLowerCase()) : null),
    transaction: async (text) => {
      const hash = parseHash(text)
      return hash === null ? null : readTransaction(context, hash)
    },
    close: async () => undefined,
  }
}

function toAmount({ native, tokens }: Context, coinType: string, units: bigint): AssetAmount {
  const type = parseCoinType(coinType) ?? coinType
  if (type === nativeCoin) return { units, asset: native, contract: null }
  return { units, asset: tokens.get(type) ?? null, contract: type }
}

async function readCheckpoint({ ask, client }: Context, sequenceNumber?: bigint) {
  const checkpointId =
    sequenceNumber === undefined ? { oneofKind: undefined } : ({ oneofKind: 'sequenceNumber', sequenceNumber } as const)
  const readMask = { paths: ['sequence_number', 'digest', 'summary.timestamp'] }
  const reply = await ask((options) => client.ledgerService.getCheckpoint({ checkpointId, readMask }, options))
  if (reply === null) return null
  const { sequenceNumber: height = 0n, digest: hash = '', summary } = reply.checkpoint ?? {}
  return { height, hash, at: timeOf(summary?.timestamp?.seconds ?? 0n) }
}

async function readAddress(context: Context, address: string): Promise<AddressFacts> {
  const { ask, client } = context
  const [balances, objects] = await Promise.all([
    ask((options) => client.stateService.listBalances({ owner: address }, options)),
    ask((options) =>
      client.stateService.listOwnedObjects(
        { owner: address, pageSize: OBJECTS_MAX, readMask: { paths: ['previous_transaction'] } },
        options,
      ),
    ),
  ])
  const amounts = (balances?.balances ?? []).map(({ coinType = '', balance = 0n }) =>
    toAmount(context, coinType, balance),
  )
  const isNative = ({ contract }: AssetAmount) => contract === null
  const digests = (objects?.objects ?? []).map(({ previousTransaction = '' }) => previousTransaction)
  return {
    address,
    balances: [
      amounts.find(isNative) ?? toAmount(context, nativeCoin, 0n),
      ...amounts.filter((one) => !isNative(one) && one.units > 0n),
    ],
    transfers: await readTransfers(context, address, [...new Set(digests)]),
    ...{ blocks: null, byCoins: true, sentCount: null },
  }
}

/** Changes of the address in these transactions, newest first. */
async function readTransfers(
  context: Context,
  address: string,
  digests: readonly string[],
): Promise<NonNullable<AddressFacts['transfers']>> {
  const { ask, client } = context
  if (digests.length === 0) return []
  const readMask = { paths: ['digest', 'balance_changes', 'checkpoint'] }
  const reply = await ask((options) =>
    client.ledgerService.batchGetTransactions({ digests: [...digests], readMask }, options),
  )
  return (reply?.transactions ?? [])
    .flatMap(({ result }) => (result.oneofKind === 'transaction' ? [result.transaction] : []))
    .sort((a, b) => (heightOf(a) < heightOf(b) ? 1 : heightOf(a) > heightOf(b) ? -1 : 0))
    .slice(0, PAGE)
    .flatMap((transaction) =>
      changesOf(context, transaction)
        .filter((change) => change.address === address)
        .map(({ direction, amount }) => ({
          ...{ hash: transaction.digest ?? '', height: transaction.checkpoint ?? null },
          ...{ direction, counterparty: null, amount },
        })),
    )
}

/** Transactions without a checkpoint are the newest. */
const heightOf = ({ checkpoint }: Pick<Executed, 'checkpoint'>): bigint => checkpoint ?? 2n ** 64n

const changesOf = (context: Context, { balanceChanges }: Executed): ProgramFacts['changes'] =>
  balanceChanges.map(({ address = '', coinType = '', amount = '0' }) => {
    const units = BigInt(amount)
    return {
      ...{ address, direction: units < 0n ? 'out' : 'in' },
      amount: toAmount(context, coinType, units < 0n ? -units : units),
    }
  })

async function readTransaction(context: Context, hash: string): Promise<TransactionFacts | null> {
  const { ask, client } = context
  const request = { digest: hash, readMask: { paths: executedPaths } }
  const executed = (await ask((options) => client.ledgerService.getTransaction(request, options)))?.transaction
  if (executed === undefined) return null
  const { transaction, effects, checkpoint } = executed
  const { computationCost = 0n, storageCost = 0n, storageRebate = 0n } = effects?.gasUsed ?? {}
  const fee = computationCost + storageCost - storageRebate
  const [block, head] = await Promise.all([
    checkpoint === undefined ? null : readCheckpoint(context, checkpoint),
    readCheckpoint(context),
  ])
  const failure = effects?.status?.success === true ? null : (effects?.status?.error?.description ?? 'failed')
  const kind = transaction?.kind?.data
  const commands = kind?.oneofKind === 'programmableTransaction' ? kind.programmableTransaction.commands : []
  const [sender = '', payer = ''] = [transaction?.sender, transaction?.gasPayment?.owner]
  return {
    ...{ hash, call: null, transfers: [], inputs: [], outputs: [] },
    status: failure !== null ? 'failed' : block === null ? 'waiting' : 'confirmed',
    block: block && { ...block, confirmations: (head?.height ?? block.height) - block.height + 1n },
    // The rebate of deleted objects can exceed the fee; the change of the payer's balance shows it.
    fee: toAmount(context, nativeCoin, fee < 0n ? 0n : fee),
    program: {
      ...{ signers: [sender], payer: payer === sender ? null : payer, failure },
      changes: changesOf(context, executed),
      steps: commands.map(({ command }) => describeCommand(command)),
    },
  }
}
