import { getAddress, keccak256, stringToHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, call, hex, type Sent, startAnvil } from './anvil.ts'
import { type ActorName, type Compiled, testActors } from './tokens.ts'
import { chainOf } from './wallet.ts'

// T13: deposits from layer 1 to a chain of the OP stack, as its node executes them.

let anvil: Anvil
let chain: ReturnType<typeof chainOf>
let actors: Readonly<Record<ActorName, Compiled>>
let next = 1

beforeAll(async () => {
  ;[anvil, actors] = await Promise.all([startAnvil(['--optimism']), testActors()])
  chain = chainOf([anvil.url])
})
afterAll(() => anvil?.stop())

const fresh = () => chain.addresses.deposit(next++).address

/** Mints to the sender, then transfers the value. Returns what the scan reports of the block, and how the balance changed. */
async function deposit({ to, value = 0n, data = '0x' }: Sent, mint: bigint, ours: string) {
  const sent = { from: anvil.accounts[1], to, value: hex(value), data, gas: hex(200_000), gasPrice: '0x0' }
  const source = { type: '0x7e', sourceHash: keccak256(stringToHex(ours)), mint: hex(mint), isSystemTx: false }
  const before = BigInt(await anvil.request('eth_getBalance', [ours, 'latest']))
  const txHash = await anvil.request<string>('eth_sendTransaction', [{ ...sent, ...source }])
  const block = await chain.reader.block(await anvil.mine())
  if (!block) throw new Error('no block')
  const { type, status } = await anvil.request<Record<string, string>>('eth_getTransactionReceipt', [txHash])
  const transfers = block.transfers.filter(({ address }) => address === ours)
  return {
    ...{ txHash, isDeposit: BigInt(type ?? 0) === 0x7en, ok: status === '0x1' },
    rise: BigInt(await anvil.request('eth_getBalance', [ours, 'latest'])) - before,
    transfers: transfers.map(({ identity, units, sender }) => ({ identity, units, sender })),
    received: await Promise.all(transfers.map((one) => chain.reader.receivedUnits(one, block))),
  }
}

test.each([
  ['its value', 100n],
  ['more than its value', 1_000n],
  ['less than its value', 3n],
])('a deposit that mints %s credits its value, without a sender to refund', async (_, mint) => {
  const ours = fresh()
  const { txHash, isDeposit, ok, rise, transfers, received } = await deposit({ to: ours, value: 100n }, mint, ours)
  expect([isDeposit, ok, rise]).toEqual([true, true, 100n])
  expect(transfers).toEqual([{ identity: txHash, units: 100n, sender: null }])
  expect(received).toEqual([100n])
})

test('a deposit that a contract forwards is an internal transfer', async () => {
  const ours = fresh()
  const forwarder = getAddress(await anvil.deploy(actors.Forwarder, []))
  const data = call(actors.Forwarder.abi, 'forward', [ours])
  const { txHash, rise, transfers, received } = await deposit({ to: forwarder, value: 9n, data }, 9n, ours)
  expect(transfers).toEqual([{ identity: `${txHash}:trace:0`, units: 9n, sender: null }])
  expect([received, rise]).toEqual([[9n], 9n])
})

test('a failed deposit keeps its mint with the sender, and credits nothing', async () => {
  const ours = fresh()
  const forwarder = getAddress(await anvil.deploy(actors.Forwarder, []))
  const data = call(actors.Forwarder.abi, 'forwardAndRevert', [ours])
  const { ok, rise, transfers } = await deposit({ to: forwarder, value: 9n, data }, 9n, ours)
  expect([ok, rise, transfers]).toEqual([false, 0n, []])
})
