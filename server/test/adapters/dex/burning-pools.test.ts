import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { encodeDeployData, type Hex, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { networks } from '../../../networks/index.ts'
import { createRpc, type Rpc, rpcDefaults } from '../../../src/adapters/chains/evm/rpc.ts'
import { type ContractCall, createBlockReader } from '../../../src/adapters/dex/block-reader.ts'
import { createNetworkPools } from '../../../src/adapters/dex/network-pools.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'
import { createLog } from '../../../src/lib/log.ts'
import type { PoolSource } from '../../../src/swap/ports/pools.ts'
import { TEST_CHAIN_ID } from '../chains/evm/anvil.ts'
import { type Compiled, compile } from '../chains/evm/compile.ts'
import { type Balancer, ONE, receiptOf, startBalancer } from './balancer-venue.ts'

/* Contracts that burn the gas of every call of a reader, and pools of Balancer that name them, beside pools that are used. */

const RATE = toFunctionSelector('getRate()')
const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as Hex
const ANSWER = `0x${'0'.repeat(63)}7`
const FEE = 4n * 10n ** 14n
const GAS = 8_000_000n
const log = createLog({ level: 'warn', pretty: true })

let venue: Balancer
let multicall: Hex
let made: Readonly<Record<string, Compiled>>
beforeAll(async () => {
  venue = await startBalancer()
  made = await compile(join(import.meta.dirname, 'burners.sol'))
  multicall = await deployCode(await readMulticall3Code())
})
afterAll(() => venue?.anvil.stop())

/** viem has the creation code for deployless calls but does not export it. */
async function readMulticall3Code(): Promise<Hex> {
  const root = dirname(createRequire(import.meta.url).resolve('viem/package.json'))
  const file = pathToFileURL(join(root, '_esm/constants/contracts.js')).href
  const { multicall3Bytecode } = (await import(file)) as { multicall3Bytecode: Hex }
  return multicall3Bytecode
}

async function deployCode(data: Hex): Promise<Hex> {
  const { txHash } = await venue.anvil.sendAndMine({ data, gas: GAS })
  return (await receiptOf(venue.anvil, txHash)).contractAddress.toLowerCase() as Hex
}
const deploy = (name: string, args: readonly unknown[] = []) =>
  deployCode(encodeDeployData({ ...(made[name] as Compiled), args: [...args] }))
const newestHash = async () =>
  (await venue.anvil.request<{ hash: Hex }>('eth_getBlockByNumber', ['latest', false])).hash

/** A node that counts what it is asked, and the reader of it. Without waits between attempts. */
function createCountingReader() {
  const counts = { single: 0, batched: 0 }
  const rpc = createRpc('node', venue.anvil.url, TEST_CHAIN_ID, { ...rpcDefaults, attempts: 1, replyBytesMax: 2 ** 20 })
  const counting: Rpc = {
    ...rpc,
    ask(...args) {
      counts.single++
      return rpc.ask(...args)
    },
    askMany(...args) {
      counts.batched++
      return rpc.askMany(...args)
    },
  }
  return { counts, reader: createBlockReader(() => counting, multicall) }
}
const callsOf = (contracts: readonly string[]): ContractCall[] => contracts.map((to) => ({ to, calldata: RATE }))

test('contracts that burn the gas of a batch, or flood it, leave the answers of the others', async () => {
  const [honest, flooder] = [await deploy('Honest'), await deploy('Flooder')]
  const burner = await deploy('Burner', [multicall])
  const at = await newestHash()
  // Three at once leave too little gas for the rest of their batch.
  const hostilePlaces = [3, 4, 5, 250, 251, 252]
  for (const hostile of [burner, flooder]) {
    const contracts = Array.from({ length: 400 }, (_, place) => (hostilePlaces.includes(place) ? hostile : honest))
    const { counts, reader } = createCountingReader()
    const expected = contracts.map((one) => (one === honest ? ANSWER : null))
    expect(await reader.read(at, callsOf(contracts))).toEqual(expected)
    // Two paths of halves down to batches of 25, the check of the node, and the repeated calls.
    expect(counts.single).toBe(1 + 2 + 4 + 4 + 4 + 1 + hostilePlaces.length)
    expect(counts.batched).toBe(50)
    const few = contracts.slice(0, 60)
    expect(await reader.readSingly(at, callsOf(few))).toEqual(expected.slice(0, 60))
  }
})

test('a batch of hostile contracts causes a bounded number of requests', async () => {
  const burner = await deploy('Burner', [multicall])
  const { counts, reader } = createCountingReader()
  const calls = callsOf(Array.from({ length: 400 }, () => burner))
  expect(await reader.read(await newestHash(), calls)).toEqual(calls.map(() => null))
  expect(counts).toEqual({ single: 31 + 1 + 400, batched: 400 })
})

test('a call that lacks gas in a batch is read again in a smaller one, or alone', async () => {
  const [honest, burner, costly] = [await deploy('Honest'), await deploy('Burner', [multicall]), await deploy('Costly')]
  // The burner leaves 6 of 400 million gas: enough for the first costly call and for the results, but not for the second call.
  const contracts = Array.from({ length: 30 }, (_, place) => (place === 10 ? burner : place < 28 ? honest : costly))
  const { counts, reader } = createCountingReader()
  const expected = contracts.map((one) => (one === burner ? null : ANSWER))
  expect(await reader.read(await newestHash(), callsOf(contracts))).toEqual(expected)
  // The batch, the check of the node, and the halves.
  expect(counts).toEqual({ single: 1 + 1 + 2, batched: 0 })
})

test('a call that lacks gas deep within other calls, which keep some of it, is read again in a smaller batch', async () => {
  const [honest, burner, nested] = [await deploy('Honest'), await deploy('Burner', [multicall]), await deploy('Nested')]
  // The burner leaves 6 of 400 million gas, and the calls around the innermost one keep half a million of these.
  const contracts = Array.from({ length: 30 }, (_, place) => (place === 10 ? burner : place === 20 ? nested : honest))
  const { counts, reader } = createCountingReader()
  const expected = contracts.map((one) => (one === burner ? null : ANSWER))
  expect(await reader.read(await newestHash(), callsOf(contracts))).toEqual(expected)
  expect(counts.batched).toBe(0)
})

test('a call that reverts because little gas is left is read again alone', async () => {
  const contracts = [await deploy('Burner', [multicall]), await deploy('Draining'), await deploy('Careful')]
  const { counts, reader } = createCountingReader()
  expect(await reader.read(await newestHash(), callsOf(contracts))).toEqual([null, ANSWER, ANSWER])
  // The node answers the batch. It refuses the burner twice, and is then checked.
  expect(counts).toEqual({ single: 1 + 1 + 1, batched: 3 })
})

test('an unknown block is an error of the node, and causes no further requests', async () => {
  const honest = await deploy('Honest')
  const { counts, reader } = createCountingReader()
  const unknown = `0x${'ab'.repeat(32)}`
  const calls = callsOf(Array.from({ length: 100 }, () => honest))
  await expect(reader.read(unknown, calls)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  expect(counts).toEqual({ single: 2, batched: 0 })
  await expect(reader.readSingly(unknown, calls)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
})

function createSource(): PoolSource {
  const definition = networks.find(({ id }) => id === 'eth')
  if (!definition) throw new Error('no such network')
  const { anvil, tokens, dexes } = venue
  return createNetworkPools({
    network: resolveNetwork(definition, 'sandbox'),
    rpcUrls: [anvil.url],
    dexNetwork: { network: 'eth', wrapped: tokens[0] ?? '', connectors: tokens, dexes, multicall3: multicall },
    tokens: [],
    snapshots: { load: async () => null, save: async () => undefined },
    log,
  })
}

async function idsOf(source: PoolSource): Promise<readonly string[]> {
  const hash = await newestHash()
  for (let turns = 0; turns < 20; turns++) {
    await source.advance()
    const at = source.current()
    if (at?.block.hash === hash) return at.pools.map(({ id }) => id).sort()
  }
  throw new Error('the newest block was not reached')
}

test('pools that name such contracts stop no other pool, live and after a full read', async () => {
  const { create, swap, read, vault, tokens, providers, me, anvil } = venue
  const [a, b, c, d] = tokens as readonly Hex[] as readonly [Hex, Hex, Hex, Hex]
  const half = [ONE / 2n, ONE / 2n]
  const noRates = [ZERO_ADDRESS, ZERO_ADDRESS]
  const weighted = await create('weighted', [[a, b], half, noRates, FEE, me], 300_000n)
  // Its cache expires at once, so that its provider is asked in every block.
  const rated = await create(
    'metaStable',
    [[a, c], 50n, [providers[0], ZERO_ADDRESS], [0n, 0n], FEE, false, me],
    9_000n,
  )
  const source = createSource()
  const honest = [weighted.id, rated.id].sort()
  expect(await idsOf(source)).toEqual(honest)

  const burners: Hex[] = []
  for (let count = 0; count < 4; count++) burners.push(await deploy('Burner', [multicall]))
  burners.sort()
  const quarter = burners.map(() => ONE / 4n)
  await create('weighted', [burners, quarter, burners.map(() => ZERO_ADDRESS), FEE, me], 1n)
  const settings = [burners.slice(0, 3), [0n, 0n, 0n], [false, false, false], FEE, me]
  const burning = await create('composable', [[b, c, d], 700n, ...settings], 1_000_000n)
  const [, balances] = await read<readonly [unknown, readonly bigint[]]>(vault, 'getPoolTokens', [burning.id])
  expect(balances.every((balance) => balance > 0n)).toBe(true)
  await swap(weighted, [a, b], 10n ** 9n)
  await anvil.mine()
  expect(await idsOf(source)).toEqual(honest)
  // Each pool is read again after its log.
  for (const pool of [weighted, rated]) await swap(pool, [a, pool === weighted ? b : c], 10n ** 9n)
  await swap(burning, [b, c], 10n ** 6n)
  await anvil.mine()
  expect(await idsOf(source)).toEqual(honest)
  expect(await idsOf(createSource())).toEqual(honest)
})
