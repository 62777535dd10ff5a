/* TransactionEffects (version 2) and TransactionEvents in BCS. */
import { bcs, TypeTagSerializer } from '@mysten/sui/bcs'
import { deriveDynamicFieldID } from '@mysten/sui/utils'
import { canonicalType } from './canonical-type.ts'
import { computeDigest } from './digests.ts'
import { encodeFailure } from './execution-failure.ts'
import { balanceTypeOf } from './move-value.ts'
import type { AmountChange, MoveEvent, ObjectChange, Outcome } from './outcome.ts'
import { encodeOwner, type SuiObject } from './sui-object.ts'

type EffectsV2 = Extract<typeof bcs.TransactionEffects.$inferInput, { V2: unknown }>['V2']
type Encoded = Readonly<{ bytes: Uint8Array<ArrayBuffer>; digest: string }>
export type EffectsFacts = Omit<Outcome, 'effectsBytes' | 'effectsDigest' | 'eventsBytes' | 'eventsDigest'>

const accumulatorRoot = '0xacc'

/** The id of the dynamic field that holds an address balance. */
export const accumulatorIdOf = (owner: string, coinType: string): string =>
  deriveDynamicFieldID(
    accumulatorRoot,
    TypeTagSerializer.parseFromStr(canonicalType(`0x2::accumulator::Key<${balanceTypeOf(coinType)}>`), true),
    bcs.Address.serialize(owner).toBytes(),
  )

const existing = ({ version, digest, owner }: SuiObject) => ({ Exist: [[version, digest], encodeOwner(owner)] })

const encodeChange = ({ id, before, after }: ObjectChange) => [
  id,
  {
    inputState: before === null ? { NotExist: true } : existing(before),
    outputState: after === null ? { NotExist: true } : { ObjectWrite: [after.digest, encodeOwner(after.owner)] },
    idOperation: before === null ? { Created: true } : after === null ? { Deleted: true } : { None: true },
  },
]

const encodeAccumulator = ({ owner, coinType, amount }: AmountChange) => [
  accumulatorIdOf(owner, coinType),
  {
    inputState: { NotExist: true },
    outputState: {
      AccumulatorWriteV1: {
        address: { address: owner, ty: balanceTypeOf(coinType) },
        operation: amount < 0n ? { Split: true } : { Merge: true },
        value: { Integer: amount < 0n ? -amount : amount },
      },
    },
    idOperation: { None: true },
  },
]

export function encodeEffects(facts: EffectsFacts, transactionDigest: string, eventsDigest: string | null): Encoded {
  const changed = [...facts.changes.map(encodeChange), ...facts.accumulatorWrites.map(encodeAccumulator)].sort(
    ([a], [b]) => ((a as string) < (b as string) ? -1 : 1),
  )
  const gasIndex = changed.findIndex(([id]) => id === facts.gasObjectId)
  const effects = {
    status:
      facts.failure === null
        ? { Success: true }
        : { Failure: { error: encodeFailure(facts.failure), command: facts.failedCommand } },
    executedEpoch: facts.epoch,
    gasUsed: facts.gas,
    transactionDigest,
    gasObjectIndex: gasIndex < 0 ? null : gasIndex,
    eventsDigest,
    dependencies: facts.dependencies,
    lamportVersion: facts.lamportVersion,
    changedObjects: changed,
    unchangedConsensusObjects: facts.readOnlyShared.map(({ id, version, digest }) => [
      id,
      { ReadOnlyRoot: [version, digest] },
    ]),
    auxDataDigest: null,
  }
  // The nested unions of the schema are wider than what the functions above are typed to return.
  const bytes = bcs.TransactionEffects.serialize({ V2: effects as unknown as EffectsV2 }).toBytes()
  return { bytes, digest: computeDigest('TransactionEffects', bytes) }
}

const eventsSchema = bcs.vector(
  bcs.struct('Event', {
    packageId: bcs.Address,
    module: bcs.string(),
    sender: bcs.Address,
    type: bcs.StructTag,
    contents: bcs.byteVector(),
  }),
)

/** Null without events. */
export function encodeEvents(events: readonly MoveEvent[]): Encoded | null {
  if (events.length === 0) return null
  const encoded = events.map((event) => {
    const tag = TypeTagSerializer.parseFromStr(event.type, true)
    if (!('struct' in tag)) throw new Error(`${event.type} is not a struct`)
    return { ...event, packageId: event.package, type: tag.struct }
  })
  const bytes = eventsSchema.serialize(encoded).toBytes()
  return { bytes, digest: computeDigest('TransactionEvents', bytes) }
}
