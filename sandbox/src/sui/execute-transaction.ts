/* Executes a checked transaction on a view of the ledger. The ledger changes only when the caller commits the outcome. */
import type { bcs } from '@mysten/sui/bcs'
import { fromBase58, fromBase64 } from '@mysten/sui/utils'
import type { Slot } from './argument-slots.ts'
import { deriveCreatedId } from './digests.ts'
import { encodeEffects, encodeEvents } from './effects.ts'
import { ExecutionFailure, type Failure } from './execution-failure.ts'
import { createFieldStore, type DynamicFields } from './field-store.ts'
import { computationCost, type GasCost, netCostOf, splitRebate, storageCostOf } from './gas.ts'
import type { LedgerView } from './ledger.ts'
import { functionKey, type MoveContext, type MoveFunctions } from './move-function.ts'
import { type MoveValue, objectValue, pureValue, setBalance, withdrawalValue } from './move-value.ts'
import type { AmountChange, MoveEvent, ObjectChange, Outcome } from './outcome.ts'
import { CommandFailure, type CommandOutput, runCommands } from './run-commands.ts'
import {
  coinTypeArgument,
  largest,
  type ObjectDraft,
  readCoinBalance,
  readId,
  SUI_TYPE,
  type SuiObject,
  sealObject,
} from './sui-object.ts'
import { commandsOf, inputsOf, type TransactionBody } from './transaction-body.ts'

type CallArg = typeof bcs.CallArg.$inferType

export type ExecutionInput = Readonly<{
  data: TransactionBody
  digest: string
  view: LedgerView
  functions: MoveFunctions
  epoch: bigint
  timestampMs: number
}>

/** The objects that a transaction names. */
type Loaded = Readonly<{
  gasCoins: readonly SuiObject[]
  /** Gas coins, owned inputs and mutable shared inputs: each gets a new version. */
  mutable: readonly SuiObject[]
  readOnlyShared: readonly SuiObject[]
  immutable: readonly SuiObject[]
}>

/** What is to be written, before gas is settled. */
type Attempt = Readonly<{
  failure: Failure | null
  failedCommand: number | null
  drafts: Map<string, ObjectDraft>
  /** Dynamic fields before they were written or removed, and those that were only read. */
  changedFields: readonly SuiObject[]
  readFields: readonly SuiObject[]
  accumulators: Map<string, AmountChange>
  events: readonly MoveEvent[]
  outputs: readonly CommandOutput[]
}>

function requireObject(view: LedgerView, id: string): SuiObject {
  const object = view.findObject(id)
  if (object === undefined) throw new Error(`Object ${id} was checked and is missing`)
  return object
}

function loadObjects({ data, view }: ExecutionInput): Loaded {
  const gasCoins = data.gasData.payment.map(({ objectId }) => requireObject(view, objectId))
  const owned: SuiObject[] = []
  const shared: SuiObject[] = []
  const readOnlyShared: SuiObject[] = []
  const immutable: SuiObject[] = []
  for (const input of inputsOf(data)) {
    if (input.$kind !== 'Object') continue
    if (input.Object.$kind === 'SharedObject') {
      const { objectId, mutable } = input.Object.SharedObject
      const list = mutable ? shared : readOnlyShared
      list.push(requireObject(view, objectId))
    } else if (input.Object.$kind === 'ImmOrOwnedObject') {
      const object = requireObject(view, input.Object.ImmOrOwnedObject.objectId)
      const list = object.owner.kind === 'immutable' ? immutable : owned
      list.push(object)
    }
  }
  return { gasCoins, mutable: [...gasCoins, ...owned, ...shared], readOnlyShared, immutable }
}

const toValue = (object: SuiObject): MoveValue => objectValue(object.type, object.contents, object.hasPublicTransfer)

function createInputSlot(input: CallArg, { data, view }: ExecutionInput): Slot {
  if (input.$kind === 'Pure') return { origin: 'plain', value: pureValue(fromBase64(input.Pure.bytes)) }
  if (input.$kind === 'FundsWithdrawal') {
    const { reservation, typeArg, withdrawFrom } = input.FundsWithdrawal
    const owner = withdrawFrom.$kind === 'Sponsor' ? data.gasData.owner : data.sender
    return { origin: 'plain', value: withdrawalValue(typeArg.Balance, owner, BigInt(reservation.MaxAmountU64)) }
  }
  if (input.Object.$kind === 'SharedObject') {
    const { objectId, mutable } = input.Object.SharedObject
    return { origin: mutable ? 'shared' : 'shared-read-only', value: toValue(requireObject(view, objectId)) }
  }
  if (input.Object.$kind === 'Receiving') throw new Error('Receiving inputs are refused before execution')
  const object = requireObject(view, input.Object.ImmOrOwnedObject.objectId)
  return { origin: object.owner.kind === 'immutable' ? 'immutable' : 'owned', value: toValue(object) }
}

const sumOfCoins = (coins: readonly SuiObject[]): bigint =>
  coins.reduce((sum, { contents }) => sum + readCoinBalance(contents), 0n)

/** The first gas coin with the balance of all. */
function smash([first, ...others]: readonly SuiObject[], reserved: bigint): MoveValue | null {
  if (first === undefined) return null
  const value = toValue(first)
  setBalance(value, sumOfCoins([first, ...others]) - reserved)
  return value
}

const draftOf = (value: MoveValue, owner: ObjectDraft['owner']): ObjectDraft => ({
  type: value.type as string,
  hasPublicTransfer: value.abilities.has('store'),
  contents: value.contents,
  owner,
})

function addAmount(amounts: Map<string, AmountChange>, owner: string, coinType: string, amount: bigint): void {
  const key = `${owner} ${coinType}`
  amounts.set(key, { owner, coinType, amount: (amounts.get(key)?.amount ?? 0n) + amount })
}

type Collected = Pick<Attempt, 'drafts' | 'accumulators'> & Readonly<{ events: MoveEvent[] }>

function createContext(
  { data, digest, epoch, timestampMs }: ExecutionInput,
  collected: Collected,
  fields: DynamicFields,
): MoveContext {
  let created = 0
  return {
    sender: data.sender,
    ...{ epoch, timestampMs, gasPrice: BigInt(data.gasData.price), fields },
    createId: () => deriveCreatedId(digest, created++),
    emit: ({ type, contents }) => {
      const [address = '', module = ''] = type.split('::')
      collected.events.push({ package: address, module, sender: data.sender, type, contents })
    },
    setOwner: (object, owner) => void collected.drafts.set(readId(object.contents), draftOf(object, owner)),
    changeAddressBalance: (owner, coinType, amount) => addAmount(collected.accumulators, owner, coinType, amount),
  }
}

/** Runs the commands. While they run, the gas budget is not in the gas coin. */
function attemptCommands(input: ExecutionInput, loaded: Loaded): Attempt {
  const collected: Collected = { drafts: new Map(), accumulators: new Map(), events: [] }
  const budget = BigInt(input.data.gasData.budget)
  const gasValue = smash(loaded.gasCoins, budget)
  const gas: Slot | null = gasValue === null ? null : { origin: 'gas', value: gasValue }
  const inputs = inputsOf(input.data).map((callArg) => createInputSlot(callArg, input))
  const store = createFieldStore(input.view)
  const given = { context: createContext(input, collected, store.fields), functions: input.functions }
  try {
    const outputs = runCommands(commandsOf(input.data), { gas, inputs }, given)
    const owners = new Map(loaded.mutable.map(({ id, owner }) => [id, owner]))
    for (const slot of [...inputs, ...(gas === null ? [] : [gas])]) {
      if (slot.value === null || !slot.value.abilities.has('key')) continue
      const owner = owners.get(readId(slot.value.contents))
      if (owner !== undefined) collected.drafts.set(readId(slot.value.contents), draftOf(slot.value, owner))
    }
    for (const [id, draft] of store.changes) if (draft !== null) collected.drafts.set(id, draft)
    const [changedFields, readFields] = [true, false].map((isChanged) =>
      store.listLoaded().filter(({ id }) => store.changes.has(id) === isChanged),
    ) as [SuiObject[], SuiObject[]]
    return { failure: null, failedCommand: null, outputs, changedFields, readFields, ...collected }
  } catch (error) {
    if (error instanceof CommandFailure) return resetAttempt(loaded, budget, error.failure, error.command)
    if (error instanceof ExecutionFailure) return resetAttempt(loaded, budget, error.failure, null)
    throw error
  }
}

/** A failed transaction only gives its inputs new versions, merges its gas coins and pays for the gas. */
function resetAttempt(loaded: Loaded, budget: bigint, failure: Failure, failedCommand: number | null): Attempt {
  const smashed = new Set(loaded.gasCoins.slice(1).map(({ id }) => id))
  const drafts = new Map<string, ObjectDraft>()
  for (const object of loaded.mutable) {
    if (smashed.has(object.id)) continue
    const isGas = object.id === loaded.gasCoins[0]?.id
    const value = (isGas ? smash(loaded.gasCoins, budget) : null) ?? toValue(object)
    drafts.set(object.id, draftOf(value, object.owner))
  }
  const fields = { changedFields: [], readFields: [] }
  return { failure, failedCommand, drafts, ...fields, accumulators: new Map(), events: [], outputs: [] }
}

/** What existed before and gets a new version or is deleted. */
const overwrittenBy = ({ mutable }: Loaded, { changedFields }: Attempt): readonly SuiObject[] => [
  ...mutable,
  ...changedFields,
]

function computeCost({ data, functions }: ExecutionInput, loaded: Loaded, attempt: Attempt): GasCost {
  const commands = commandsOf(data)
  const units = commands.reduce((sum, command) => {
    if (command.$kind !== 'MoveCall') return sum
    const { package: address, module, function: name } = command.MoveCall
    return sum + (functions.get(functionKey(address, module, name))?.units ?? 0n)
  }, 0n)
  const deposits = overwrittenBy(loaded, attempt).reduce((sum, { storageRebate }) => sum + storageRebate, 0n)
  const storageCost = [...attempt.drafts.values()].reduce((sum, draft) => sum + storageCostOf(draft), 0n)
  const price = BigInt(data.gasData.price)
  return { computationCost: computationCost(commands.length, units, price), storageCost, ...splitRebate(deposits) }
}

type Settled = Readonly<{ attempt: Attempt; cost: GasCost; isStorageCharged: boolean }>

/** What fits into the budget: the attempt, its reset, or the reset that pays the whole budget. */
function fitBudget(input: ExecutionInput, loaded: Loaded, attempt: Attempt): Settled {
  const budget = BigInt(input.data.gasData.budget)
  const fits = (cost: GasCost) => cost.computationCost <= budget && netCostOf(cost) <= budget
  const cost = computeCost(input, loaded, attempt)
  if (fits(cost)) return { attempt, cost, isStorageCharged: true }
  const reset = resetAttempt(loaded, budget, { kind: 'InsufficientGas' }, null)
  const resetCost = computeCost(input, loaded, reset)
  if (fits(resetCost)) return { attempt: reset, cost: resetCost, isStorageCharged: true }
  const whole = { computationCost: budget, storageCost: 0n, storageRebate: 0n, nonRefundableStorageFee: 0n }
  return { attempt: reset, cost: whole, isStorageCharged: false }
}

/** Puts the rest of the budget back into the gas coin, or takes the cost from the address balance. */
function chargeGas({ data }: ExecutionInput, loaded: Loaded, { attempt, cost }: Settled): void {
  const gasId = loaded.gasCoins[0]?.id
  if (gasId === undefined) {
    addAmount(attempt.accumulators, data.gasData.owner, SUI_TYPE, -netCostOf(cost))
    return
  }
  const draft = attempt.drafts.get(gasId) as ObjectDraft
  const value = objectValue(draft.type, draft.contents, draft.hasPublicTransfer)
  setBalance(value, readCoinBalance(draft.contents) + BigInt(data.gasData.budget) - netCostOf(cost))
  attempt.drafts.set(gasId, { ...draft, contents: value.contents })
}

/** By bytes: digests in base58 have different lengths. */
const compareDigests = (a: string, b: string): number => Buffer.compare(fromBase58(a), fromBase58(b))
const compareIds = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1)

function sealChanges(input: ExecutionInput, loaded: Loaded, settled: Settled, version: bigint): ObjectChange[] {
  const overwritten = overwrittenBy(loaded, settled.attempt)
  const before = new Map(overwritten.map((object) => [object.id, object]))
  const written = [...settled.attempt.drafts].map(([id, draft]) => {
    const existing = before.get(id) ?? null
    const isNewlyShared = draft.owner.kind === 'shared' && existing?.owner.kind !== 'shared'
    const owner = isNewlyShared ? ({ kind: 'shared', initialVersion: version } as const) : draft.owner
    const storageRebate = settled.isStorageCharged ? storageCostOf(draft) : (existing?.storageRebate ?? 0n)
    const after = sealObject({ ...draft, owner }, { version, previousTransaction: input.digest, storageRebate })
    return { id, before: existing, after }
  })
  const deleted = overwritten
    .filter(({ id }) => !settled.attempt.drafts.has(id))
    .map((object) => ({ id: object.id, before: object, after: null }))
  return [...written, ...deleted].sort(compareIds)
}

function listBalanceChanges(changes: readonly ObjectChange[], writes: readonly AmountChange[]): AmountChange[] {
  const sums = new Map<string, AmountChange>()
  const addCoin = (object: SuiObject | null, sign: bigint) => {
    const coinType = object === null ? null : coinTypeArgument(object.type)
    if (object === null || coinType === null || object.owner.kind !== 'address') return
    addAmount(sums, object.owner.address, coinType, sign * readCoinBalance(object.contents))
  }
  for (const { before, after } of changes) {
    addCoin(before, -1n)
    addCoin(after, 1n)
  }
  for (const { owner, coinType, amount } of writes) addAmount(sums, owner, coinType, amount)
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, entry]) => (entry.amount === 0n ? [] : [entry]))
}

export function executeTransaction(input: ExecutionInput): Outcome {
  const loaded = loadObjects(input)
  const settled = fitBudget(input, loaded, attemptCommands(input, loaded))
  chargeGas(input, loaded, settled)
  const { attempt, cost } = settled
  const all = [...overwrittenBy(loaded, attempt), ...loaded.readOnlyShared, ...loaded.immutable, ...attempt.readFields]
  const lamportVersion = largest(all.map(({ version }) => version)) + 1n
  const changes = sealChanges(input, loaded, settled, lamportVersion)
  const accumulatorWrites = [...attempt.accumulators.values()].filter(({ amount }) => amount !== 0n)
  const facts = {
    ...{ failure: attempt.failure, failedCommand: attempt.failedCommand, epoch: input.epoch, gas: cost },
    gasObjectId: loaded.gasCoins[0]?.id ?? null,
    ...{ lamportVersion, changes, accumulatorWrites, readOnlyShared: loaded.readOnlyShared },
    readFields: attempt.readFields,
    dependencies: [...new Set(all.map(({ previousTransaction }) => previousTransaction))].sort(compareDigests),
    ...{ events: attempt.events, outputs: attempt.outputs },
    balanceChanges: listBalanceChanges(changes, accumulatorWrites),
  }
  const events = encodeEvents(attempt.events)
  const effects = encodeEffects(facts, input.digest, events?.digest ?? null)
  return {
    ...facts,
    effectsBytes: effects.bytes,
    effectsDigest: effects.digest,
    eventsBytes: events?.bytes ?? null,
    eventsDigest: events?.digest ?? null,
  }
}
