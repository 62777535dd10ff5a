/* Checkpoints with the BCS and digests of the protocol, without signatures of validators. */
import { bcs } from '@mysten/sui/bcs'
import { toBase64 } from '@mysten/sui/utils'
import { computeDigest } from './digests.ts'
import type { GasCost } from './gas.ts'
import type { ExecutedTransaction } from './ledger.ts'

export type Checkpoint = Readonly<{
  sequence: bigint
  digest: string
  epoch: bigint
  timestampMs: number
  previousDigest: string | null
  contentDigest: string
  totalTransactions: bigint
  /** Since the start of the epoch. */
  rollingGas: GasCost
  isLastOfEpoch: boolean
  transactions: readonly ExecutedTransaction[]
  summaryBytes: Uint8Array<ArrayBuffer>
  contentBytes: Uint8Array<ArrayBuffer>
}>

const gasSchema = bcs.struct('GasCostSummary', {
  ...{
    computationCost: bcs.u64(),
    storageCost: bcs.u64(),
    storageRebate: bcs.u64(),
    nonRefundableStorageFee: bcs.u64(),
  },
})

const endOfEpochSchema = bcs.struct('EndOfEpochData', {
  nextEpochCommittee: bcs.vector(bcs.tuple([bcs.byteVector(), bcs.u64()])),
  nextEpochProtocolVersion: bcs.u64(),
  epochCommitments: bcs.vector(bcs.u8()),
})

const summarySchema = bcs.struct('CheckpointSummary', {
  epoch: bcs.u64(),
  sequenceNumber: bcs.u64(),
  networkTotalTransactions: bcs.u64(),
  contentDigest: bcs.ObjectDigest,
  previousDigest: bcs.option(bcs.ObjectDigest),
  epochRollingGasCostSummary: gasSchema,
  timestampMs: bcs.u64(),
  checkpointCommitments: bcs.vector(bcs.u8()),
  endOfEpochData: bcs.option(endOfEpochSchema),
  versionSpecificData: bcs.byteVector(),
})

const contentSchema = bcs.enum('CheckpointContents', {
  V1: bcs.struct('CheckpointContentsV1', {
    transactions: bcs.vector(
      bcs.struct('ExecutionDigests', { transaction: bcs.ObjectDigest, effects: bcs.ObjectDigest }),
    ),
    userSignatures: bcs.vector(bcs.vector(bcs.byteVector())),
  }),
})

export const protocolVersion = 138n

const zeroGas: GasCost = { ...{ computationCost: 0n, storageCost: 0n, storageRebate: 0n }, nonRefundableStorageFee: 0n }

const addGas = (a: GasCost, b: GasCost): GasCost => ({
  computationCost: a.computationCost + b.computationCost,
  storageCost: a.storageCost + b.storageCost,
  storageRebate: a.storageRebate + b.storageRebate,
  nonRefundableStorageFee: a.nonRefundableStorageFee + b.nonRefundableStorageFee,
})

type NextCheckpoint = Pick<Checkpoint, 'epoch' | 'timestampMs' | 'isLastOfEpoch' | 'transactions'>

export function createCheckpoint(previous: Checkpoint | null, next: NextCheckpoint): Checkpoint {
  const { epoch, timestampMs, isLastOfEpoch, transactions } = next
  const sequence = previous === null ? 0n : previous.sequence + 1n
  const totalTransactions = (previous?.totalTransactions ?? 0n) + BigInt(transactions.length)
  const rollingBefore = previous === null || previous.isLastOfEpoch ? zeroGas : previous.rollingGas
  const rollingGas = transactions.reduce((sum, { outcome }) => addGas(sum, outcome.gas), rollingBefore)
  const contentBytes = contentSchema
    .serialize({
      V1: {
        transactions: transactions.map(({ digest, outcome }) => ({
          transaction: digest,
          effects: outcome.effectsDigest,
        })),
        userSignatures: transactions.map(({ signatures }) => [...signatures]),
      },
    })
    .toBytes()
  const contentDigest = computeDigest('CheckpointContents', contentBytes)
  const previousDigest = previous?.digest ?? null
  const summaryBytes = summarySchema
    .serialize({
      ...{
        epoch,
        sequenceNumber: sequence,
        networkTotalTransactions: totalTransactions,
        contentDigest,
        previousDigest,
      },
      epochRollingGasCostSummary: rollingGas,
      ...{ timestampMs, checkpointCommitments: [], versionSpecificData: [] },
      endOfEpochData: isLastOfEpoch
        ? { nextEpochCommittee: [], nextEpochProtocolVersion: protocolVersion, epochCommitments: [] }
        : null,
    })
    .toBytes()
  const digest = computeDigest('CheckpointSummary', summaryBytes)
  return {
    ...{ sequence, digest, epoch, timestampMs, previousDigest, contentDigest, totalTransactions, rollingGas },
    ...{ isLastOfEpoch, transactions, summaryBytes, contentBytes },
  }
}

/** Key of a signature set, to compare two submissions of one transaction. */
export const signaturesKey = (signatures: readonly Uint8Array[]): string => signatures.map((s) => toBase64(s)).join()
