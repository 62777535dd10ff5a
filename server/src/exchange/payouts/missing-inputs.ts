import { assert } from '../../lib/assert.ts'
import type { Chain } from '../ports/chain.ts'
import type { SignIntent } from '../ports/signer.ts'
import type { Store } from '../ports/store/store.ts'
import type { Attempt, OutgoingTransaction } from '../ports/store/transactions.ts'
import type { NotReplaced } from './replace-transaction.ts'

/**
 * Inputs of our transaction whose funding transaction was reorganised out and that nothing else has spent. They may
 * reappear, so the transaction is not invalid. `REPLACEABLE`: it can be signed again without them. `NO_COMMON_COIN`: the
 * conflict key itself is missing, so another attempt would not exclude this one. `NO_REPLACEMENT`: the network accepts no
 * replacements.
 */
export type MissingInputs = Readonly<{
  kind: 'REPLACEABLE' | 'NO_COMMON_COIN' | 'NO_REPLACEMENT'
  outpoints: readonly string[]
  /** Height of the head when the last of them left its block. */
  since: number
}>

/** Null unless an input has been in no block for `finalityBlocks` and no node has its transaction in chain or mempool. */
export async function findMissingInputs(
  { store }: Readonly<{ store: Store }>,
  chain: Chain,
  { network, state, conflictKey, head }: OutgoingTransaction,
  { intent }: Attempt,
): Promise<MissingInputs | null> {
  if (state !== 'live' || intent.family !== 'bitcoin' || head === null) return null
  const outputs = await store.recovery.findMissingOutputs(
    network,
    intent.inputs.map(({ outpoint }) => outpoint),
  )
  const overdue = outputs.filter(({ missingSince }) => head - missingSince >= chain.network.finalityBlocks)
  const outpoints: string[] = []
  for (const { outpoint } of overdue) {
    const txHash = outpoint.split(':')[0] ?? ''
    if ((await chain.sender.observe({ txHash, conflictKey: null })).kind === 'unseen') outpoints.push(outpoint)
  }
  if (outpoints.length === 0) return null
  return {
    kind: outpoints.includes(conflictKey)
      ? 'NO_COMMON_COIN'
      : chain.network.bitcoin?.replaceable === false
        ? 'NO_REPLACEMENT'
        : 'REPLACEABLE',
    outpoints,
    since: Math.max(...overdue.map(({ missingSince }) => missingSince)),
  }
}

/** The intent without its missing inputs; null if it cannot be replaced without them. */
export function dropInputs(intent: SignIntent, { kind, outpoints }: MissingInputs): SignIntent | null {
  if (kind !== 'REPLACEABLE' || intent.family !== 'bitcoin') return null
  const inputs = intent.inputs.filter(({ outpoint }) => !outpoints.includes(outpoint))
  assert(inputs.length > 0, 'the conflict key is among the remaining inputs')
  return { ...intent, inputs }
}

/** `code` says why the transaction was not signed again. */
export async function raiseMissingInputs(
  { store }: Readonly<{ store: Store }>,
  { id, network }: OutgoingTransaction,
  { txHash }: Attempt,
  { kind, outpoints, since }: MissingInputs,
  code: MissingInputs['kind'] | NotReplaced,
): Promise<void> {
  await store.alarms.raise(
    `inputs:${id}`,
    'inputs of a transaction of ours left the chain and are not spent elsewhere',
    {
      network,
      transactionId: id,
      txHash,
      code,
      outpoints,
      since,
      next: kind === 'REPLACEABLE' ? null : `swapyard payouts add-funding ${id} --raw <hex>`,
    },
  )
}
