import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SuiGrpcClient } from '@mysten/sui/grpc'
import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { Transaction } from '@mysten/sui/transactions'
import { expect, onTestFinished, test } from 'vitest'
import { createSuiChain } from './sui-chain.ts'

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-sui-chain-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const start = async (folder: string) => {
  const chain = await createSuiChain(folder, 0, { isFrozen: true })
  return { chain, client: new SuiGrpcClient({ network: 'localnet', baseUrl: chain.rpcUrls[0] ?? '' }) }
}

test('a start continues the chain of the last stop: balances, transactions, checkpoints and pools', async () => {
  const folder = createFolder()
  const first = await start(folder)
  const user = Ed25519Keypair.generate()
  const address = user.toSuiAddress()
  await first.chain.deposit({ currency: 'sui', address, amount: '5' })
  const transaction = new Transaction()
  transaction.transferObjects([transaction.splitCoins(transaction.gas, [1_000_000_000n])], `0x${'1'.repeat(64)}`)
  const sent = await first.client.signAndExecuteTransaction({ transaction, signer: user })
  const digest = sent.Transaction?.digest ?? ''
  const tip = await first.chain.mine(3)
  const left = await first.chain.readBalance({ currency: 'native', address })
  await first.chain.stop()

  const { chain, client } = await start(folder)
  onTestFinished(() => chain.stop())
  expect(await chain.readBalance({ currency: 'native', address })).toBe(left)
  expect(await chain.readBalance({ currency: 'sui', address: `0x${'1'.repeat(64)}` })).toBe('1')
  expect((await client.getTransaction({ digest })).Transaction?.digest).toBe(digest)
  expect(chain.market?.dexes).toEqual(first.chain.market?.dexes)
  expect(await chain.mine(1)).toMatchObject({ height: tip.height + 1 })
  await chain.deposit({ currency: 'usdc', address, amount: '7' })
  expect(await chain.readBalance({ currency: 'usdc', address })).toBe('7')
  const again = new Transaction()
  again.transferObjects([again.splitCoins(again.gas, [1n])], address)
  expect((await client.signAndExecuteTransaction({ transaction: again, signer: user })).$kind).toBe('Transaction')
})

test('a deposit is a transaction of its own, whose digest the node knows', async () => {
  const { chain, client } = await start(createFolder())
  onTestFinished(() => chain.stop())
  const address = Ed25519Keypair.generate().toSuiAddress()
  const deposits = [
    { currency: 'sui', amount: '5', units: '5000000000' },
    { currency: 'usdc', amount: '7', units: '7000000' },
  ]
  for (const { currency, amount, units } of deposits) {
    const digest = await chain.deposit({ currency, address, amount })
    const found = await client.getTransaction({ digest, include: { balanceChanges: true } })
    const change = found.Transaction?.balanceChanges?.find((one) => one.address === address)
    expect([currency, change?.amount, found.Transaction?.status.success]).toEqual([currency, units, true])
  }
  expect(await chain.countPending()).toBe(2)
})

test('a file that is not whole begins a new chain', async () => {
  const folder = createFolder()
  writeFileSync(join(folder, 'chain.bin'), Buffer.from([1, 2, 3]))
  const { chain } = await start(folder)
  onTestFinished(() => chain.stop())
  expect(await chain.mine(1)).toMatchObject({ height: 1 })
  expect(await chain.countPending()).toBe(0)
})

test('controls refuse what the chain does not have', async () => {
  const { chain } = await start(createFolder())
  onTestFinished(() => chain.stop())
  const address = Ed25519Keypair.generate().toSuiAddress()
  await expect(chain.deposit({ currency: 'doge', address, amount: '1' })).rejects.toMatchObject({ status: 404 })
  await expect(chain.deposit({ currency: 'sui', address: '0x2', amount: '1' })).rejects.toMatchObject({ status: 400 })
  await expect(chain.deposit({ currency: 'sui', address, amount: '0' })).rejects.toMatchObject({ status: 400 })
  await expect(chain.reorganize(1, { drop: false })).rejects.toMatchObject({ status: 409 })
})
