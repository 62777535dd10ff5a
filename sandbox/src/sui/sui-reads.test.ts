import { bcs } from '@mysten/sui/bcs'
import type { GrpcTypes } from '@mysten/sui/grpc'
import { Transaction } from '@mysten/sui/transactions'
import { fromBase64 } from '@mysten/sui/utils'
import { expect, test } from 'vitest'
import { startTestNode } from './sui-node.fixture.ts'

const recipient = `0x${'c'.repeat(64)}`

test('a field mask selects fields, of messages within messages too', async () => {
  const { client, createFunded } = await startTestNode()
  const { coin } = createFunded()
  const read = async (paths: string[]) =>
    (await client.ledgerService.getObject({ objectId: coin.id, readMask: { paths } })).response.object
  expect(await read(['version', 'owner.address'])).toEqual({
    version: 1n,
    owner: { address: coin.owner.kind === 'address' ? coin.owner.address : '' },
  })
  expect(await read(['balance'])).toEqual({ balance: 10_000_000_000n })
  await expect(read(['version', 'weight'])).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'invalid read_mask path: weight',
  })
  // Without a mask the service's own default applies.
  const { response } = await client.ledgerService.getObject({ objectId: coin.id })
  expect(response.object).toEqual({ objectId: coin.id, version: 1n, digest: coin.digest })
})

test('a subscription gets every checkpoint with its transactions', async () => {
  const { client, createFunded, sign, tick, node } = await startTestNode()
  const { keypair } = createFunded()
  const abort = new AbortController()
  const call = client.subscriptionService.subscribeCheckpoints(
    { readMask: { paths: ['sequence_number', 'transactions.digest', 'summary.previous_digest', 'digest'] } },
    { abort: abort.signal },
  )
  await call.headers
  const stream = call.responses[Symbol.asyncIterator]()
  tick()
  const transaction = new Transaction()
  transaction.transferObjects([transaction.splitCoins(transaction.gas, [1n])], recipient)
  const { bytes, signature } = await sign(transaction, keypair)
  const executed = await client.executeTransaction({ transaction: bytes, signatures: [signature] })
  node.pause()
  tick()
  node.resume()
  tick()
  const read = async (): Promise<GrpcTypes.SubscribeCheckpointsResponse> => (await stream.next()).value
  const [first, second] = [await read(), await read()]
  abort.abort()
  expect([first.cursor, second.cursor]).toEqual([1n, 2n])
  expect(second.checkpoint?.transactions.map(({ digest }) => digest)).toEqual([executed.Transaction?.digest])
  expect(second.checkpoint?.summary?.previousDigest).toBe(first.checkpoint?.digest)
})

test('a transaction has its checkpoint and time once one contains it', async () => {
  const { client, createFunded, tick } = await startTestNode()
  const { keypair } = createFunded()
  const transaction = new Transaction()
  transaction.transferObjects([transaction.splitCoins(transaction.gas, [1n])], recipient)
  const result = await client.signAndExecuteTransaction({ transaction, signer: keypair })
  const digest = result.Transaction?.digest ?? ''
  expect((await client.getTransaction({ digest })).Transaction).toMatchObject({ checkpoint: null, timestampMs: null })
  tick(250)
  expect((await client.getTransaction({ digest })).Transaction).toMatchObject({
    checkpoint: '1',
    timestampMs: 1_800_000_000_250,
  })
  const { response } = await client.ledgerService.getCheckpoint({
    checkpointId: { oneofKind: 'sequenceNumber', sequenceNumber: 1n },
    readMask: { paths: ['contents.transactions.transaction'] },
  })
  expect(response.checkpoint?.contents?.transactions[0]?.transaction).toBe(digest)
})

test('epochs have a first and a last checkpoint', async () => {
  const { client, node, tick } = await startTestNode()
  tick()
  node.endEpoch()
  tick()
  const read = async (epoch?: bigint) =>
    (await client.ledgerService.getEpoch(epoch === undefined ? {} : { epoch })).response.epoch
  expect(await read(0n)).toMatchObject({ epoch: 0n, firstCheckpoint: 0n, lastCheckpoint: 2n })
  expect(await read()).toMatchObject({ epoch: 1n, firstCheckpoint: 3n, referenceGasPrice: 1_000n })
  await expect(read(7n)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  const { response } = await client.ledgerService.getServiceInfo({})
  expect(response).toMatchObject({ epoch: 1n, checkpointHeight: 3n, chainId: node.chainId })
})

test('lists owned objects page by page, coins with the largest balance first', async () => {
  const { client, node } = await startTestNode()
  for (const amount of [5n, 9n, 7n]) node.mint(recipient, amount)
  const first = await client.listCoins({ owner: recipient, limit: 2 })
  const second = await client.listCoins({ owner: recipient, limit: 2, cursor: first.cursor })
  expect([first.objects, second.objects].map((page) => page.map(({ balance }) => balance))).toEqual([['9', '7'], ['5']])
  expect([first.hasNextPage, second.hasNextPage]).toEqual([true, false])
  expect((await client.listBalances({ owner: recipient })).balances).toMatchObject([{ balance: '21' }])
})

test('answers missing things and malformed requests with the codes of a real node', async () => {
  const { client, node } = await startTestNode()
  const ledger = client.ledgerService
  await expect(ledger.getObject({ objectId: recipient })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(ledger.getObject({ objectId: 'no address' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await expect(ledger.getTransaction({ digest: 'x' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await expect(ledger.getTransaction({ digest: '1'.repeat(32) })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(client.nameService.lookupName({ name: 'a.sui' })).rejects.toMatchObject({ code: 'UNIMPLEMENTED' })
  await expect(client.executeTransaction({ transaction: fromBase64('AAAA'), signatures: [] })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
  const { objects } = await client.getObjects({ objectIds: [recipient] })
  expect(objects[0]).toMatchObject({ code: 'notExists' })
  const post = (body: string, type = 'application/grpc-web-text') =>
    fetch(`${node.url}/sui.rpc.v2.LedgerService/GetObject`, { method: 'POST', body, headers: { 'content-type': type } })
  expect(Buffer.from(await (await post('AAAA')).text(), 'base64').toString()).toContain('grpc-status:3')
  expect((await post('{}', 'application/json')).status).toBe(415)
})

test('a start says that the node is a simulator, and what it lacks', async () => {
  const texts: string[] = []
  await startTestNode({ notify: (text) => void texts.push(text) })
  expect(texts).toHaveLength(1)
  for (const part of ['a simulator', 'no Move VM', 'It checks', 'Not simulated']) expect(texts[0]).toContain(part)
})

test('lists the dynamic fields of an object with their names and values', async () => {
  const { client, node } = await startTestNode()
  const { id: parent } = node.mint(recipient, 1n)
  const setField = (type: string, bytes: Uint8Array) =>
    node.changeFields(parent, (fields) =>
      fields.set(parent, { type, bytes }, { type: 'bool', bytes: Uint8Array.of(1) }),
    )
  const names = [7n, 300n].map((name) => bcs.u64().serialize(name).toBytes())
  for (const name of names) setField('u64', name)
  // A struct, whose layout the node does not know.
  setField('0xa::key::Key', Uint8Array.of(9, 0, 0))
  const { dynamicFields } = await client.listDynamicFields({ parentId: parent, include: { value: true } })
  const found = dynamicFields.map(({ name }) => [name.type, [...name.bcs].join()]).sort()
  expect(found).toEqual([
    [`0x${'a'.padStart(64, '0')}::key::Key`, '9,0,0'],
    ...names.map((name) => ['u64', name.join()]).sort(),
  ])
  expect(dynamicFields[0]).toMatchObject({ valueType: 'bool', value: { bcs: Uint8Array.of(1) } })
  const { dynamicField } = await client.getDynamicField({
    ...{ parentId: parent, name: { type: 'u64', bcs: names[1] ?? new Uint8Array() } },
  })
  expect(dynamicField.value).toMatchObject({ type: 'bool', bcs: Uint8Array.of(1) })
})
