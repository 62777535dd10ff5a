import type { AccountAddresses } from '../../src/adapters/chains/shared/account-address.ts'
import { buildTransfer, parseConflictKey } from '../../src/adapters/chains/shared/account-transfer.ts'
import { combineResults } from '../../src/adapters/chains/shared/agreement.ts'
import { AppError } from '../../src/core/domain/errors.ts'
import type { Network } from '../../src/core/domain/network.ts'
import type { BroadcastResult, Observation, PureSender } from '../../src/exchange/ports/chain.ts'
import { present } from '../../src/lib/assert.ts'
import type { MemoryNode, TransactionStatus } from './node.ts'
import { agreedHead } from './reader.ts'
import { gasOf } from './state.ts'

export function createMemorySender(
  network: Network,
  nodes: readonly MemoryNode[],
  addresses: AccountAddresses,
): PureSender {
  return Object.freeze({
    gasLimit: async (pay, from) => {
      const address = addresses.addressAt(from)
      const balances = nodes.map((node) => node.balance(address, pay.asset.contract))
      if (balances.some((units) => units < pay.units))
        throw new AppError('INSUFFICIENT_LIQUIDITY', 'the sender holds less than the transfer')
      return gasOf(pay.asset)
    },
    payoutFee: (asset, fee) => gasOf(asset) * fee.rate,
    build: (request) => buildTransfer(network, addresses, request),
    broadcast: async (raw) => combineResults(nodes.map((node) => broadcastTo(node, raw))),
    observe: async (attempt) => observe(network, nodes, attempt),
  } satisfies PureSender)
}

function broadcastTo(node: MemoryNode, raw: string): BroadcastResult {
  try {
    return node.submit(raw)
  } catch (error) {
    if (error instanceof AppError) return { kind: 'unknown', reason: `node ${node.name} gave no answer` }
    throw error
  }
}

type Attempt = Readonly<{ txHash: string; conflictKey: string | null }>

function observe(network: Network, nodes: readonly MemoryNode[], { txHash, conflictKey }: Attempt): Observation {
  const views = nodes.map((node) => node.find(txHash))
  const [first] = views
  if (isIncluded(first) && views.every((view) => isIncluded(view) && view.block.hash === first.block.hash)) {
    const { block, receipt } = first
    return {
      kind: 'included',
      block: { height: block.height, hash: block.hash },
      ok: receipt.ok,
      feeUnits: receipt.feeUnits,
    }
  }
  if (conflictKey !== null && !views.some(isIncluded)) {
    const proof = proveConflict(network, nodes, txHash, conflictKey)
    if (proof !== null) return { kind: 'invalidated', proof }
  }
  return { kind: views.some((view) => view !== null) ? 'pending' : 'unseen' }
}

function isIncluded(status: TransactionStatus | null | undefined): status is Exclude<TransactionStatus, 'waiting'> {
  return status !== null && status !== undefined && status !== 'waiting'
}

/** Proof that another transaction used the nonce, final in a block that every node has; null without one. */
function proveConflict(
  network: Network,
  nodes: readonly MemoryNode[],
  txHash: string,
  conflictKey: string,
): Record<string, string | number> | null {
  const { address: sender, nonce } = parseConflictKey(conflictKey)
  if (nodes.some((node) => node.nonce(sender) <= nonce)) return null
  const node = present(nodes[0], 'a node')
  for (let height = agreedHead(network, nodes).height; height >= 0; height--) {
    const block = present(node.block(height), 'a block below the head')
    const conflicting = block.scanned.transactions.find((one) => one.sender === sender && one.nonce === nonce)
    if (!conflicting) continue
    const isFinal = agreedHead(network, nodes).height - height >= network.finalityBlocks
    return isFinal && conflicting.txHash !== txHash
      ? { conflictingTxHash: conflicting.txHash, height, hash: block.hash, nonce }
      : null
  }
  return null
}
