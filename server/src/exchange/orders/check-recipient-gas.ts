import { setTimeout as sleep } from 'node:timers/promises'
import type { Asset } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { Chain, Destination } from '../ports/chain.ts'

/** Gas of a payment beyond a plain one. With 21 000 for that, a recipient may use 60 000. */
const EXTRA_GAS_MAX = 39_000n
/** A slow node does not delay a create: the payout's own check is the one that counts. */
const WAIT_MS = 1_000

/**
 * Refuses a recipient or refund address whose contract makes a native payment expensive, or refuses it: the customer is charged
 * for a plain payment. Without an answer of the nodes it passes.
 */
export async function checkRecipientGas(
  chains: ReadonlyMap<string, Chain>,
  { network, contract }: Pick<Asset, 'network' | 'contract'>,
  recipient: Destination | null,
  field: 'address' | 'refundAddress',
): Promise<void> {
  const sender = chains.get(network)?.sender
  if (recipient === null || contract !== null || sender?.extraGas === undefined) return
  const asked = sender.extraGas(recipient.address).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error
    return error.code === 'SIMULATION_FAILED' ? null : 0n
  })
  const extra = await Promise.race([asked, sleep(WAIT_MS, 0n, { ref: false })])
  if (extra !== null && extra <= EXTRA_GAS_MAX) return
  const reason = extra === null ? 'refuses payments' : `uses ${extra} gas for a payment, more than ${EXTRA_GAS_MAX}`
  const code = field === 'address' ? 'INVALID_ADDRESS' : 'INVALID_REFUND_ADDRESS'
  throw new AppError(code, `${field} is a contract that ${reason}: use another address`, { field })
}
