import { bcs } from '@mysten/sui/bcs'
import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { Transaction } from '@mysten/sui/transactions'
import { fromBase64 } from '@mysten/sui/utils'
import { expect, test } from 'vitest'
import { packageFunctions } from './move-function.ts'
import { assetValue } from './move-value.ts'
import { SUI, startTestNode } from './sui-node.fixture.ts'

const recipient = `0x${'b'.repeat(64)}`

function payment(amount = 1n): Transaction {
  const transaction = new Transaction()
  transaction.transferObjects([transaction.splitCoins(transaction.gas, [amount])], recipient)
  return transaction
}

test('refuses the signature of another key, and one over other bytes', async () => {
  const { client, createFunded, sign } = await startTestNode()
  const { keypair } = createFunded()
  const first = await sign(payment(1n), keypair)
  const second = await sign(payment(2n), keypair)
  const stranger = await Ed25519Keypair.generate().signTransaction(first.bytes)
  for (const signature of [stranger.signature, second.signature])
    await expect(
      client.executeTransaction({ transaction: first.bytes, signatures: [signature] }),
    ).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('Invalid user signature'),
    })
  expect((await client.getBalance({ owner: recipient })).balance.balance).toBe('0')
})

test('refuses a version that was used up, and repeats the answer for the same transaction', async () => {
  const { client, createFunded, sign } = await startTestNode()
  const { keypair, coin } = createFunded()
  const first = await sign(payment(1n), keypair)
  const second = await sign(payment(2n), keypair)
  const send = ({ bytes, signature }: typeof first) =>
    client.executeTransaction({ transaction: bytes, signatures: [signature] })
  const executed = await send(first)
  await expect(send(second)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringMatching(`object ${coin.id} version 1 is unavailable for consumption, current version: 2`),
  })
  expect(await send(first)).toEqual(executed)
  expect((await client.getBalance({ owner: recipient })).balance.balance).toBe('1')
})

test('two transactions at once with one coin: one is executed', async () => {
  const { client, createFunded, sign } = await startTestNode()
  const { keypair } = createFunded()
  const signed = [await sign(payment(1n), keypair), await sign(payment(2n), keypair)]
  const results = await Promise.allSettled(
    [...signed, ...signed].map(({ bytes, signature }) =>
      client.executeTransaction({ transaction: bytes, signatures: [signature] }),
    ),
  )
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
})

test('a locked version refuses other transactions until the epoch ends', async () => {
  const { node, client, createFunded, sign } = await startTestNode()
  const { keypair } = createFunded()
  const first = await sign(payment(1n), keypair)
  const second = await sign(payment(2n), keypair)
  await node.lockInputs({ bytes: first.bytes, signatures: [fromBase64(first.signature)] })
  const sendSecond = () => client.executeTransaction({ transaction: second.bytes, signatures: [second.signature] })
  await expect(sendSecond()).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' })
  node.endEpoch()
  expect(await sendSecond()).toHaveProperty('Transaction')
})

test('a transaction that timed out is executed when it is sent again', async () => {
  const { node, client, createFunded, sign } = await startTestNode()
  const { keypair } = createFunded()
  const { bytes, signature } = await sign(payment(5n), keypair)
  const send = () => client.executeTransaction({ transaction: bytes, signatures: [signature] })
  node.pauseExecution(true)
  await expect(send()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  node.pauseExecution(false)
  expect(await send()).toHaveProperty('Transaction')
})

test('refuses an expired transaction from the next epoch on', async () => {
  const { node, client, createFunded, sign } = await startTestNode()
  const { keypair } = createFunded()
  const transaction = payment()
  transaction.setExpiration({ Epoch: 0 })
  const { bytes, signature } = await sign(transaction, keypair)
  node.endEpoch()
  await expect(client.executeTransaction({ transaction: bytes, signatures: [signature] })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('Transaction Expired'),
  })
})

test.for([
  ['a price below the reference', { price: 999n, budget: 5_000_000n }, 'Gas price 999 under reference gas price'],
  ['a budget below the least', { price: 1_000n, budget: 999_999n }, 'Gas budget: 999999 is lower than min: 1000000'],
  ['a budget above the largest', { price: 1_000n, budget: 50_000_000_001n }, 'is higher than max: 50000000000'],
  ['a budget above the coin', { price: 1_000n, budget: 2n * SUI }, 'is lower than the needed amount: 2000000000'],
] as const)('refuses %s', async ([, { price, budget }, message]) => {
  const { client, createFunded } = await startTestNode()
  const { keypair, address, coin } = createFunded(SUI)
  const transaction = payment()
  transaction.setSender(address)
  transaction.setGasPrice(price)
  transaction.setGasBudget(budget)
  transaction.setGasPayment([{ objectId: coin.id, version: '1', digest: coin.digest }])
  const bytes = await transaction.build()
  const { signature } = await keypair.signTransaction(bytes)
  const sent = client.executeTransaction({ transaction: bytes, signatures: [signature] })
  await expect(sent).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(message) })
})

test('refuses objects of other owners, and of other digests', async () => {
  const { client, createFunded } = await startTestNode()
  const { keypair, address, coin } = createFunded()
  const { coin: foreign } = createFunded()
  const send = async (ref: { objectId: string; version: string; digest: string }) => {
    const transaction = new Transaction()
    transaction.setSender(address)
    transaction.setGasPrice(1_000n)
    transaction.setGasBudget(5_000_000n)
    transaction.setGasPayment([{ objectId: coin.id, version: '1', digest: coin.digest }])
    transaction.transferObjects([transaction.objectRef(ref)], recipient)
    const bytes = await transaction.build()
    const { signature } = await keypair.signTransaction(bytes)
    return client.executeTransaction({ transaction: bytes, signatures: [signature] })
  }
  await expect(send({ objectId: foreign.id, version: '1', digest: foreign.digest })).rejects.toThrow(/not owned by/)
  await expect(send({ objectId: foreign.id, version: '1', digest: coin.digest })).rejects.toThrow(
    /Invalid Object digest/,
  )
  await expect(send({ objectId: recipient, version: '1', digest: coin.digest })).rejects.toThrow(/Could not find/)
})

test('refuses publishing, and packages that it does not know', async () => {
  const { client } = await startTestNode()
  const publish = new Transaction()
  publish.setSender(recipient)
  publish.publish({ modules: [[1]], dependencies: [] })
  await expect(client.simulateTransaction({ transaction: publish })).rejects.toThrow(/no Move VM/)
  const call = new Transaction()
  call.setSender(recipient)
  call.moveCall({ target: '0xabc::pool::swap' })
  await expect(client.simulateTransaction({ transaction: call })).rejects.toThrow(/package not found.*abc/)
})

const counterType = '0xc0de::counter::Counter'
const counterSchema = bcs.struct('Counter', { id: bcs.Address, count: bcs.u64() })
const counterFunctions = packageFunctions('0xc0de', {
  'counter::increase': {
    ...{ typeParameters: 0, units: 10n, parameters: [{ use: 'mutable', type: counterType }] },
    run({ arguments: [counter], context }) {
      if (counter === undefined) return []
      const { id, count } = counterSchema.parse(counter.contents)
      counter.contents = counterSchema.serialize({ id, count: BigInt(count) + 1n }).toBytes()
      context.emit({ type: '0xc0de::counter::Increased', contents: bcs.U64.serialize(count).toBytes() })
      return []
    },
  },
  'counter::read': {
    ...{ typeParameters: 0, units: 10n, parameters: [{ use: 'reference', type: counterType }] },
    run: () => [],
  },
  'counter::borrow': {
    ...{ typeParameters: 0, units: 10n, parameters: [] },
    run: () => [assetValue('0xc0de::counter::Debt', Uint8Array.of(1))],
  },
})

async function startWithCounter() {
  const started = await startTestNode({ functions: counterFunctions })
  const counter = started.node.createObject(
    { type: counterType, owner: { kind: 'shared', initialVersion: 1n }, hasPublicTransfer: false },
    (id) => counterSchema.serialize({ id, count: 0n }).toBytes(),
  )
  return { ...started, counter }
}

test('a shared object is changed by two senders that name the same initial version', async () => {
  const { client, createFunded, sign, counter } = await startWithCounter()
  const increase = () => {
    const transaction = new Transaction()
    transaction.moveCall({ target: '0xc0de::counter::increase', arguments: [transaction.object(counter.id)] })
    return transaction
  }
  const signed = [await sign(increase(), createFunded().keypair), await sign(increase(), createFunded().keypair)]
  for (const { bytes, signature } of signed)
    expect(
      await client.executeTransaction({ transaction: bytes, signatures: [signature], include: { events: true } }),
    ).toMatchObject({ Transaction: { events: [{ eventType: expect.stringContaining('::counter::Increased') }] } })
  const { object } = await client.getObject({ objectId: counter.id, include: { content: true } })
  expect(counterSchema.parse(object.content).count).toBe('2')
  expect(object.owner).toMatchObject({ Shared: { initialSharedVersion: '1' } })
  // A reader names it as immutable, and leaves its version.
  const read = new Transaction()
  read.moveCall({ target: '0xc0de::counter::read', arguments: [read.object(counter.id)] })
  const { bytes, signature } = await sign(read, createFunded().keypair)
  const result = await client.executeTransaction({
    transaction: bytes,
    signatures: [signature],
    include: { effects: true },
  })
  expect(result.Transaction?.effects.unchangedConsensusObjects).toMatchObject([
    { kind: 'ReadOnlyRoot', objectId: counter.id, version: object.version },
  ])
})

const misuses: readonly (readonly [string, (t: Transaction) => void, string])[] = [
  [
    'a value without drop that nothing uses',
    (t: Transaction) => void t.moveCall({ target: '0xc0de::counter::borrow' }),
    'Unused result without the drop ability',
  ],
  [
    'a coin that nothing uses',
    (t: Transaction) => void t.splitCoins(t.gas, [1n]),
    'Unused result without the drop ability',
  ],
  [
    'a coin used twice',
    (t: Transaction) => {
      const [coin] = t.splitCoins(t.gas, [1n])
      t.transferObjects([coin as never], recipient)
      t.transferObjects([coin as never], recipient)
    },
    'InvalidValueUsage',
  ],
  [
    'a pure argument of another length',
    (t: Transaction) => void t.transferObjects([t.splitCoins(t.gas, [t.pure.u8(1)])], recipient),
    'InvalidBCSBytes',
  ],
  [
    'the gas coin by value',
    (t: Transaction) => {
      const [coin] = t.splitCoins(t.gas, [1n])
      t.mergeCoins(coin as never, [t.gas])
      t.transferObjects([coin as never], recipient)
    },
    'InvalidGasCoinUsage',
  ],
  [
    'a function that does not exist',
    (t: Transaction) => void t.moveCall({ target: '0xc0de::counter::absent' }),
    'FunctionNotFound',
  ],
  ['too few arguments', (t: Transaction) => void t.moveCall({ target: '0xc0de::counter::read' }), 'ArityMismatch'],
]

test.for(misuses)('fails with %s', async ([, add, message]) => {
  const { client, createFunded } = await startTestNode({ functions: counterFunctions })
  const { address, coin } = createFunded()
  const transaction = new Transaction()
  add(transaction)
  transaction.setSender(address)
  transaction.setGasPrice(1_000n)
  transaction.setGasBudget(10_000_000n)
  transaction.setGasPayment([{ objectId: coin.id, version: '1', digest: coin.digest }])
  const result = await client.simulateTransaction({ transaction: await transaction.build() })
  expect(result.FailedTransaction?.status.error?.message).toContain(message)
})
