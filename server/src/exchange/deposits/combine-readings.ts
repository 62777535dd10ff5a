import type { ScannedBlock, Transfer } from '../ports/chain.ts'

/** One block as several nodes report it. */
export type CombinedBlock = Readonly<{
  /** With each transfer that a node reports, except those of transactions in `disputed`. */
  block: ScannedBlock
  /** All reports of transactions that nodes contradict each other about: one identity has different transfers. */
  disputed: readonly Transfer[]
}>

/** A node that lacks a transfer contradicts no other: the transfers are the union of what the nodes report. */
export function combineReadings(readings: readonly [ScannedBlock, ...ScannedBlock[]]): CombinedBlock {
  const reported = new Map<string, Transfer>()
  const disputedHashes = new Set<string>()
  for (const transfer of readings.flatMap(({ transfers }) => transfers)) {
    const earlier = reported.get(transfer.identity)
    if (earlier === undefined) reported.set(transfer.identity, transfer)
    else if (!isSame(earlier, transfer)) {
      disputedHashes.add(earlier.txHash)
      disputedHashes.add(transfer.txHash)
    }
  }
  const isDisputed = ({ txHash }: Transfer) => disputedHashes.has(txHash)
  return {
    block: { ...readings[0], transfers: [...reported.values()].filter((one) => !isDisputed(one)) },
    disputed: readings.flatMap(({ transfers }) => transfers.filter(isDisputed)),
  }
}

const isSame = (one: Transfer, other: Transfer): boolean =>
  one.txHash === other.txHash &&
  one.address === other.address &&
  one.memo === other.memo &&
  one.contract === other.contract &&
  one.units === other.units &&
  one.sender === other.sender &&
  one.lockConfirmations === other.lockConfirmations
