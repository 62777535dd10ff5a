import { bcs } from '@mysten/sui/bcs'
import { Transaction, type TransactionArgument } from '@mysten/sui/transactions'
import { expect, test } from 'vitest'
import { FunctionAbort, type MoveFunction, mutable, packageFunctions, reference, value } from './move-function.ts'
import { type MoveValue, readU64, u64Value } from './move-value.ts'
import { SUI, startTestNode } from './sui-node.fixture.ts'
import { readId } from './sui-object.ts'

const address = `0x${'dd'.repeat(32)}`
const store = `${address}::store::Store`
const u64 = (number: bigint) => ({ type: 'u64', bytes: bcs.u64().serialize(number).toBytes() })
const fieldSchema = bcs.struct('Field', { id: bcs.Address, name: bcs.u64(), value: bcs.u64() })

const define = (
  parameters: MoveFunction['parameters'],
  run: (call: Parameters<MoveFunction['run']>[0], id: string, numbers: readonly bigint[]) => readonly MoveValue[],
): MoveFunction => ({
  ...{ typeParameters: 0, units: 20n, parameters },
  run(call) {
    const [target, ...others] = call.arguments
    return run(call, readId(target?.contents ?? new Uint8Array()), others.map(readU64))
  },
})

/** A shared object with numbers under numbers. */
const functions = packageFunctions(address, {
  'store::set': define([mutable(store), value('u64'), value('u64')], ({ context }, id, [name = 0n, number = 0n]) => {
    context.fields.set(id, u64(name), u64(number))
    return []
  }),
  'store::remove': define([mutable(store), value('u64')], ({ context }, id, [name = 0n]) => {
    context.fields.remove(id, u64(name))
    return []
  }),
  'store::read': define([reference(store), value('u64')], ({ context }, id, [name = 0n]) => {
    const field = context.fields.find(id, u64(name))
    if (field === null) throw new FunctionAbort(1n)
    return [u64Value(BigInt(fieldSchema.parse(field).value))]
  }),
  'store::count': define([reference(store)], ({ context }, id) => [u64Value(BigInt(context.fields.list(id).length))]),
})

async function start() {
  const started = await startTestNode({ functions })
  const { node, client, createFunded } = started
  const shared = { kind: 'shared', initialVersion: 1n } as const
  const { id } = node.createObject({ type: store, owner: shared, hasPublicTransfer: false }, (own) =>
    bcs.Address.serialize(own).toBytes(),
  )
  const { keypair, address: gasOwner } = createFunded(10n * SUI)
  const shareOf = (t: Transaction) => t.sharedObjectRef({ objectId: id, initialSharedVersion: 1, mutable: true })
  const call = (t: Transaction, name: string, ...numbers: bigint[]) =>
    t.moveCall({
      ...{ target: `${address}::store::${name}` },
      arguments: [shareOf(t), ...numbers.map((number) => t.pure.u64(number))],
    })
  return {
    ...{ ...started, id, call, shareOf },
    async execute(fill: (t: Transaction) => void) {
      const transaction = new Transaction()
      fill(transaction)
      // With everything set, no dry run comes before the execution.
      transaction.setSender(gasOwner)
      transaction.setGasPrice(1_000n)
      transaction.setGasBudget(SUI)
      const { objects } = await client.listCoins({ owner: gasOwner })
      transaction.setGasPayment(objects.map(({ objectId, version, digest }) => ({ objectId, version, digest })))
      const include = { effects: true } as const
      const result = await client.signAndExecuteTransaction({ transaction, signer: keypair, include })
      return (result.Transaction ?? result.FailedTransaction).effects
    },
    async readFields() {
      const { dynamicFields } = await client.listDynamicFields({ parentId: id, include: { value: true } })
      const read = (bytes: Uint8Array) => BigInt(bcs.u64().parse(bytes))
      return Object.fromEntries(dynamicFields.map((one) => [read(one.name.bcs), read(one.value.bcs)]))
    },
    readVersion: async (name: bigint) =>
      (await client.getDynamicField({ parentId: id, name: { type: 'u64', bcs: u64(name).bytes } })).dynamicField
        .version,
  }
}

test('a transaction adds, changes and removes objects that another object owns', async () => {
  const { call, execute, readFields, readVersion, id } = await start()
  const added = await execute((t) => {
    for (const name of [1n, 2n, 3n]) call(t, 'set', name, 10n * name)
  })
  expect(await readFields()).toEqual({ 1: 10n, 2: 20n, 3: 30n })
  const ownedBy = { $kind: 'ObjectOwner', ObjectOwner: id }
  const fieldsOf = ({ changedObjects }: typeof added) =>
    changedObjects.filter(({ outputOwner, inputOwner }) => (outputOwner ?? inputOwner)?.$kind === 'ObjectOwner')
  expect(fieldsOf(added)).toMatchObject(
    Array.from({ length: 3 }, () => ({
      idOperation: 'Created',
      outputOwner: ownedBy,
      outputVersion: added.lamportVersion,
    })),
  )

  const changed = await execute((t) => {
    call(t, 'set', 1n, 11n)
    call(t, 'remove', 2n)
  })
  expect(await readFields()).toEqual({ 1: 11n, 3: 30n })
  expect(
    fieldsOf(changed)
      .map(({ idOperation, inputVersion }) => [idOperation, inputVersion])
      .sort(),
  ).toEqual([
    ['Deleted', added.lamportVersion],
    ['None', added.lamportVersion],
  ])
  expect(await readVersion(1n)).toBe(changed.lamportVersion)
  expect(await readVersion(3n)).toBe(added.lamportVersion)
  // The deposit of the removed field comes back, less what the network keeps.
  const { storageCost, storageRebate } = changed.gasUsed
  expect(BigInt(storageRebate)).toBeGreaterThan(BigInt(storageCost))
  expect(changed.dependencies).toContain(added.transactionDigest)
})

test('later commands see what earlier ones changed, and a failed transaction changes nothing', async () => {
  const { call, execute, readFields, shareOf } = await start()
  await execute((t) => call(t, 'set', 1n, 10n))
  await execute((t) => {
    call(t, 'set', 2n, 20n)
    call(t, 'remove', 1n)
    // Stores what is read under 2, and then the count, under further names.
    const store = (name: bigint, number: TransactionArgument) =>
      t.moveCall({ target: `${address}::store::set`, arguments: [shareOf(t), t.pure.u64(name), number] })
    store(7n, call(t, 'read', 2n))
    store(8n, call(t, 'count'))
  })
  expect(await readFields()).toEqual({ 2: 20n, 7: 20n, 8: 2n })
  const { status } = await execute((t) => {
    call(t, 'set', 2n, 99n)
    call(t, 'set', 3n, 30n)
    call(t, 'remove', 7n)
    call(t, 'read', 1n)
  })
  expect(status).toMatchObject({ success: false, error: { MoveAbort: { abortCode: '1' } } })
  expect(await readFields()).toEqual({ 2: 20n, 7: 20n, 8: 2n })
})

test('names the fields that a transaction only read, and refuses one as an input', async () => {
  const { call, execute, client, id, createFunded, sign } = await start()
  const added = await execute((t) => {
    call(t, 'set', 1n, 10n)
    call(t, 'set', 2n, 20n)
  })
  const read = await execute((t) => {
    call(t, 'read', 1n)
    call(t, 'set', 2n, 21n)
  })
  const { dynamicField: field } = await client.getDynamicField({
    parentId: id,
    name: { type: 'u64', bcs: u64(1n).bytes },
  })
  const { response } = await client.ledgerService.getTransaction({
    digest: read.transactionDigest,
    readMask: { paths: ['effects.unchanged_loaded_runtime_objects'] },
  })
  const { fieldId, version, digest } = field
  expect(response.transaction?.effects?.unchangedLoadedRuntimeObjects).toEqual([
    { objectId: fieldId, version: BigInt(added.lamportVersion ?? 0), digest },
  ])

  const { keypair, address: thief, coin } = createFunded()
  const transaction = new Transaction()
  transaction.transferObjects([transaction.objectRef({ objectId: fieldId, version, digest })], thief)
  await expect(sign(transaction, keypair)).rejects.toThrow(/object owned and cannot be used as an input/)
  // Without the help of the node.
  transaction.setGasPrice(1_000n)
  transaction.setGasBudget(SUI)
  transaction.setGasPayment([{ objectId: coin.id, version: coin.version.toString(), digest: coin.digest }])
  const bytes = await transaction.build()
  const { signature } = await keypair.signTransaction(bytes)
  await expect(client.executeTransaction({ transaction: bytes, signatures: [signature] })).rejects.toThrow(
    /is owned by object .* cannot be used as input/,
  )
})
