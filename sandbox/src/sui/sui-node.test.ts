import { bcs } from '@mysten/sui/bcs'
import { RpcError } from '@mysten/sui/grpc'
import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { Transaction, TransactionDataBuilder } from '@mysten/sui/transactions'
import { normalizeStructTag, toBase58 } from '@mysten/sui/utils'
import { blake2b } from '@noble/hashes/blake2.js'
import { expect, test } from 'vitest'
import { SUI, startTestNode } from './sui-node.fixture.ts'

const recipient = `0x${'a'.repeat(64)}`
const include = { effects: true, balanceChanges: true, transaction: true, bcs: true, objectTypes: true } as const

/** The field `Transaction` of a success. */
function succeeded<T>(result: { Transaction?: T; FailedTransaction?: unknown }): T {
  expect(result.FailedTransaction).toBeUndefined()
  return result.Transaction as T
}

test('pays SUI from the gas coin, and both balances change by what the effects say', async () => {
  const { client, createFunded, tick } = await startTestNode()
  const { keypair, address } = createFunded()
  const transaction = new Transaction()
  const [paid] = transaction.splitCoins(transaction.gas, [3n * SUI])
  transaction.transferObjects([paid], recipient)
  const result = await client.signAndExecuteTransaction({ transaction, signer: keypair, include })
  const { effects, balanceChanges, digest, bcs: bytes } = succeeded(result)
  const { computationCost, storageCost, storageRebate } = effects.gasUsed
  const cost = BigInt(computationCost) + BigInt(storageCost) - BigInt(storageRebate)
  expect((await client.getBalance({ owner: recipient })).balance.balance).toBe(`${3n * SUI}`)
  expect((await client.getBalance({ owner: address })).balance.balance).toBe(`${7n * SUI - cost}`)
  expect(new Map(balanceChanges.map(({ address, amount }) => [address, amount]))).toEqual(
    new Map([
      [recipient, `${3n * SUI}`],
      [address, `-${3n * SUI + cost}`],
    ]),
  )
  // Mainnet stores a coin of SUI for 988,000 MIST and gives 99 % back: 978,120.
  expect({ storageCost, storageRebate }).toEqual({ storageCost: '1976000', storageRebate: '978120' })
  expect(computationCost).toBe('1000000')
  // 1,000 units of computation, 1,000 of overhead, and the storage of the coin that it creates.
  expect(TransactionDataBuilder.fromBytes(bytes as Uint8Array).gasData.budget).toBe('2988000')
  expect(TransactionDataBuilder.getDigestFromBytes(bytes as Uint8Array)).toBe(digest)
  tick()
  const found = succeeded(await client.getTransaction({ digest, include }))
  expect(found.checkpoint).toBe('1')
  expect(found.effects).toEqual(effects)
})

test('digests and BCS of effects and objects are those of the protocol', async () => {
  const { client, createFunded } = await startTestNode()
  const { keypair, address, coin } = createFunded()
  const hash = (name: string, bytes: Uint8Array) =>
    toBase58(blake2b(Uint8Array.of(...new TextEncoder().encode(`${name}::`), ...bytes), { dkLen: 32 }))
  const transaction = new Transaction()
  transaction.transferObjects([transaction.splitCoins(transaction.gas, [1n])], recipient)
  const { effects, digest } = succeeded(
    await client.signAndExecuteTransaction({ transaction, signer: keypair, include: { effects: true } }),
  )
  const parsed = bcs.TransactionEffects.parse(effects.bcs as Uint8Array).V2
  expect(parsed?.transactionDigest).toBe(digest)
  expect(parsed?.lamportVersion).toBe('2')
  const { response } = await client.ledgerService.getTransaction({ digest, readMask: { paths: ['effects.digest'] } })
  expect(response.transaction?.effects?.digest).toBe(hash('TransactionEffects', effects.bcs as Uint8Array))
  const { object } = await client.getObject({
    objectId: coin.id,
    include: { objectBcs: true, previousTransaction: true },
  })
  expect(object).toMatchObject({ version: '2', previousTransaction: digest })
  expect(object.digest).toBe(hash('Object', object.objectBcs))
  const [, gas] = parsed?.changedObjects.find(([id]) => id === coin.id) ?? []
  expect(gas?.outputState.ObjectWrite?.[0]).toBe(object.digest)
  expect(bcs.Object.parse(object.objectBcs).owner.AddressOwner).toBe(address)
  // The first created object: Blake2b of 0xf1, the transaction's digest and the counter 0.
  const created = effects.changedObjects.find(({ idOperation }) => idOperation === 'Created')
  const seed = Uint8Array.of(0xf1, ...bcs.ObjectDigest.serialize(digest).toBytes().slice(1), ...new Uint8Array(8))
  expect(created?.objectId).toBe(`0x${Buffer.from(blake2b(seed, { dkLen: 32 })).toString('hex')}`)
})

test('splits and merges coins of a token, and deletes the merged ones', async () => {
  const { node, client, createFunded } = await startTestNode()
  const usdc = '0xdba3::usdc::USDC'
  node.createCoinType(usdc, { decimals: 6, name: 'USD Coin', symbol: 'USDC', description: '', iconUrl: null })
  const { keypair, address } = createFunded()
  const first = node.mint(address, 700n, usdc)
  const second = node.mint(address, 50n, usdc)
  const transaction = new Transaction()
  transaction.mergeCoins(first.id, [second.id])
  const [one, two] = transaction.splitCoins(first.id, [100n, 150n])
  transaction.mergeCoins(one as never, [two as never])
  transaction.transferObjects([one as never], recipient)
  const { effects, balanceChanges } = succeeded(
    await client.signAndExecuteTransaction({ transaction, signer: keypair, include }),
  )
  const { objects } = await client.listCoins({ owner: address, coinType: usdc })
  expect(objects.map(({ objectId, balance }) => [objectId, balance])).toEqual([[first.id, '500']])
  expect((await client.getBalance({ owner: recipient, coinType: usdc })).balance.balance).toBe('250')
  expect(effects.changedObjects.find(({ objectId }) => objectId === second.id)?.idOperation).toBe('Deleted')
  expect(balanceChanges).toContainEqual({ coinType: normalizeStructTag(usdc), address: recipient, amount: '250' })
  expect((await client.getCoinMetadata({ coinType: usdc })).coinMetadata).toMatchObject({ decimals: 6, symbol: 'USDC' })
})

test('a dry run answers as the execution does, and changes nothing', async () => {
  const { client, createFunded, sign } = await startTestNode()
  const { keypair, address } = createFunded()
  const transaction = new Transaction()
  transaction.transferObjects([transaction.splitCoins(transaction.gas, [SUI])], recipient)
  const { bytes, signature } = await sign(transaction, keypair)
  const dry = succeeded(await client.simulateTransaction({ transaction: bytes, include }))
  expect((await client.getBalance({ owner: address })).balance.balance).toBe(`${10n * SUI}`)
  const real = succeeded(await client.executeTransaction({ transaction: bytes, signatures: [signature], include }))
  expect(dry.effects).toEqual(real.effects)
  expect(dry.balanceChanges).toEqual(real.balanceChanges)
  expect(dry.digest).toBe(real.digest)
})

test('a budget below the storage fails with InsufficientGas, charges and moves nothing', async () => {
  const { client, createFunded } = await startTestNode()
  const { keypair, address } = createFunded()
  const transaction = new Transaction()
  transaction.setGasBudget(1_500_000n)
  transaction.transferObjects([transaction.splitCoins(transaction.gas, [SUI])], recipient)
  transaction.setSender(address)
  transaction.setGasPrice(1_000n)
  const { objects } = await client.listCoins({ owner: address })
  transaction.setGasPayment(objects.map(({ objectId, version, digest }) => ({ objectId, version, digest })))
  const result = await client.signAndExecuteTransaction({ transaction, signer: keypair, include })
  expect(result.FailedTransaction?.status).toMatchObject({ error: { message: 'InsufficientGas' } })
  const gas = result.FailedTransaction?.effects.gasUsed
  // Computation, and the gas coin's new storage less the rebate of its old one.
  expect(gas).toMatchObject({ computationCost: '1000000', storageCost: '988000', storageRebate: '978120' })
  expect((await client.getBalance({ owner: address })).balance.balance).toBe(`${10n * SUI - 1_009_880n}`)
  expect((await client.getBalance({ owner: recipient })).balance.balance).toBe('0')
})

test('a failing command undoes the ones before it, and gas is paid', async () => {
  const { client, createFunded, node } = await startTestNode()
  const { keypair, address } = createFunded()
  const token = node.mint(address, 5n, '0xdba3::usdc::USDC')
  const transaction = new Transaction()
  transaction.setGasBudget(5_000_000n)
  transaction.transferObjects([transaction.splitCoins(transaction.gas, [SUI])], recipient)
  transaction.transferObjects([transaction.splitCoins(token.id, [6n])], recipient)
  transaction.setGasPayment([(await client.listCoins({ owner: address })).objects[0] as never])
  transaction.setGasPrice(1_000n)
  transaction.setSender(address)
  const bytes = await transaction.build({ client }).catch((error: Error) => error)
  expect(bytes).toMatchObject({ message: expect.stringContaining('InsufficientCoinBalance') })
  // Built without the node's dry run.
  const offline = Transaction.from(transaction)
  const built = await buildOffline(offline, token)
  const { signature } = await keypair.signTransaction(built)
  const result = await client.executeTransaction({ transaction: built, signatures: [signature], include })
  expect(result.FailedTransaction?.status.error).toMatchObject({
    message: 'InsufficientCoinBalance in command 2',
    command: 2,
  })
  expect((await client.getBalance({ owner: recipient })).balance.balance).toBe('0')
  expect((await client.getObject({ objectId: token.id })).object.version).toBe('2')
})

/** Replaces the unresolved object by its reference. */
function buildOffline(transaction: Transaction, coin: { id: string; version: bigint; digest: string }) {
  const data = transaction.getData()
  const inputs = data.inputs.map((input) =>
    input.UnresolvedObject === undefined
      ? input
      : { Object: { ImmOrOwnedObject: { objectId: coin.id, version: `${coin.version}`, digest: coin.digest } } },
  )
  return Promise.resolve(TransactionDataBuilder.restore({ ...data, inputs } as never).build())
}

test('a sponsor pays for the gas of another sender', async () => {
  const { client, createFunded } = await startTestNode()
  const sponsor = createFunded()
  const sender = createFunded()
  const transaction = new Transaction()
  transaction.setSender(sender.address)
  transaction.setGasOwner(sponsor.address)
  transaction.transferObjects([sender.coin.id], recipient)
  const bytes = await transaction.build({ client })
  const signatures = [
    (await sender.keypair.signTransaction(bytes)).signature,
    (await sponsor.keypair.signTransaction(bytes)).signature,
  ]
  await expect(
    client.executeTransaction({ transaction: bytes, signatures: signatures.slice(0, 1) }),
  ).rejects.toBeInstanceOf(RpcError)
  succeeded(await client.executeTransaction({ transaction: bytes, signatures }))
  expect((await client.getBalance({ owner: recipient })).balance.balance).toBe(`${10n * SUI}`)
  expect((await client.getBalance({ owner: sender.address })).balance.balance).toBe('0')
})

test('address balances receive, pay and pay for gas', async () => {
  const { client, node } = await startTestNode()
  const keypair = Ed25519Keypair.generate()
  const address = keypair.toSuiAddress()
  node.mintToAddressBalance(address, 10n * SUI)
  const transaction = new Transaction()
  const [coin] = transaction.moveCall({
    target: '0x2::coin::redeem_funds',
    typeArguments: ['0x2::sui::SUI'],
    arguments: [transaction.withdrawal({ amount: 2n * SUI })],
  })
  transaction.moveCall({
    target: '0x2::coin::send_funds',
    typeArguments: ['0x2::sui::SUI'],
    arguments: [coin as never, transaction.pure.address(recipient)],
  })
  const { effects } = succeeded(await client.signAndExecuteTransaction({ transaction, signer: keypair, include }))
  const cost = BigInt(effects.gasUsed.computationCost)
  expect(effects.gasObject).toBeNull()
  expect((await client.getBalance({ owner: recipient })).balance).toMatchObject({
    coinBalance: '0',
    addressBalance: `${2n * SUI}`,
  })
  expect((await client.getBalance({ owner: address })).balance.balance).toBe(`${8n * SUI - cost}`)
})

test('an address balance of a token pays no more than it holds', async () => {
  const { client, node, createFunded } = await startTestNode()
  const { keypair, address } = createFunded()
  const type = '0xdba3::usdc::USDC'
  node.mintToAddressBalance(address, 10n, type)
  const withdraw = (amount: bigint) => {
    const transaction = new Transaction()
    const [coin] = transaction.moveCall({
      target: '0x2::coin::redeem_funds',
      typeArguments: [type],
      arguments: [transaction.withdrawal({ amount, type })],
    })
    transaction.transferObjects([coin as never], recipient)
    return client.signAndExecuteTransaction({ transaction, signer: keypair, include })
  }
  await expect(withdraw(11n)).rejects.toThrow(/Available amount in account .* is 10, requested: 11/)
  const { balanceChanges } = succeeded(await withdraw(7n))
  expect(
    balanceChanges
      .filter(({ coinType }) => coinType.endsWith('::usdc::USDC'))
      .map(({ amount }) => amount)
      .sort(),
  ).toEqual([...['-7', '7']])
  expect((await client.getBalance({ owner: address, coinType: type })).balance).toMatchObject({
    ...{ balance: '3', coinBalance: '0', addressBalance: '3' },
  })
  expect((await client.getBalance({ owner: recipient, coinType: type })).balance).toMatchObject({ coinBalance: '7' })
})

test('several gas coins become one', async () => {
  const { client, createFunded, node } = await startTestNode()
  const { keypair, address } = createFunded(SUI)
  node.mint(address, SUI)
  const transaction = new Transaction()
  const { objects } = await client.listCoins({ owner: address })
  transaction.setGasPayment(objects)
  transaction.transferObjects([transaction.splitCoins(transaction.gas, [1_500_000_000n])], recipient)
  const { effects } = succeeded(await client.signAndExecuteTransaction({ transaction, signer: keypair, include }))
  expect((await client.listCoins({ owner: address })).objects).toHaveLength(1)
  expect(effects.changedObjects.filter(({ idOperation }) => idOperation === 'Deleted')).toHaveLength(1)
})

test('simulates a transaction that has only commands', async () => {
  const { client } = await startTestNode()
  const transaction = new Transaction()
  transaction.setSender(recipient)
  transaction.moveCall({
    target: '0x2::coin::destroy_zero',
    typeArguments: ['0x2::sui::SUI'],
    arguments: [transaction.moveCall({ target: '0x2::coin::zero', typeArguments: ['0x2::sui::SUI'] }) as never],
  })
  const result = await client.simulateTransaction({ transaction, include: { commandResults: true } })
  expect(result.commandResults?.[0]?.returnValues[0]?.bcs).toHaveLength(40)
})
