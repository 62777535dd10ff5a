import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { base58 } from '@scure/base'
import { createDlmmPool } from '../../../../sandbox/src/solana/dexes/meteora-dlmm.ts'
import { cpmmConfig, createCpmmPool } from '../../../../sandbox/src/solana/dexes/raydium-cpmm.ts'
import { listedMarket } from '../../../../sandbox/src/solana/solana-market.ts'
import { startSolanaNode } from '../../../../sandbox/src/solana/solana-node.ts'
import { sol } from '../../../networks/sol.ts'
import { createSolanaSwapChain } from '../../../src/adapters/solana/chain.ts'
import { createSolanaPools } from '../../../src/adapters/solana/pools.ts'
import { tokenProgram } from '../../../src/adapters/solana/program-address.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'
import type { NodeNote } from '../../../src/core/ports/chain.ts'
import type { DexNetwork } from '../../../src/swap/domain/dex.ts'
import type { PoolSource } from '../../../src/swap/ports/pools.ts'
import type { SwapOrder } from '../../../src/swap/ports/swap-chain.ts'
import type { ExecutedSwap } from '../../../src/swap/routing/execute.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'

export const SOL = listedMarket.wrapped as string
export const ref = `0x${'7e'.repeat(32)}`
const network = resolveNetwork(sol, 'sandbox')
const startMs = 1_800_000_000_000
/** Of the slot, by the clock that moves with the blocks. */
const HEAD_AGE_MAX_MS = 90_000

export const tokenOf = (symbol: string): string => {
  if (symbol === 'SOL') return SOL
  const found = listedMarket.defiTokens.find((one) => one.symbol === symbol)
  if (found === undefined) throw new Error(`the sandbox has no ${symbol}`)
  return found.address
}

export type User = Readonly<{ address: string; key: KeyObject }>

export function createUser(): User {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  const key = createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' }))
  return { address: base58.encode(Buffer.from(x, 'base64url')), key }
}

/** Signs an unsigned transaction of one signer, as base64. */
function signWith({ key }: User, unsigned: string): string {
  const bytes = Buffer.from(unsigned, 'base64')
  sign(null, bytes.subarray(65), key).copy(bytes, 1)
  return bytes.toString('base64')
}

/** Reads the pools until none are left to be searched. */
export async function catchUp(pools: PoolSource): Promise<void> {
  let more: 'again' | undefined = 'again'
  while (more === 'again') more = await pools.advance()
}

/** The sandbox's market in this process, with the server's pools and chain of it. Its clock moves with its blocks. */
export async function startMarket(changes: Partial<DexNetwork> = {}) {
  let slots = 0
  const now = () => startMs + slots * 400
  const node = await startSolanaNode({
    ...{ port: 0, log: () => undefined, deploysMarket: true, now },
  })
  const mine = (count: number) => {
    slots += count
    node.mine(count)
  }
  mine(40)
  const { defiTokens, hubs, dexes } = listedMarket
  const [usdc = ''] = hubs
  const dexNetwork: DexNetwork = {
    ...{ network: 'sol', wrapped: SOL, connectors: [usdc], stablecoin: usdc, dexes, ...changes },
  }
  const rpcUrls = [node.rpcUrl]
  const tokens = defiTokens.map(({ address }) => address)
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined }
  const snapshots = { load: async () => null, save: async () => undefined }
  const createPools = (urls: readonly string[], warn: (fields: object) => void = log.warn) =>
    createSolanaPools({
      ...{ network, rpcUrls: urls, dexNetwork, tokens, now, snapshots, settings: { headAgeMaxMs: HEAD_AGE_MAX_MS } },
      log: { ...log, warn, child: () => log } as never,
    })
  const pools = createPools(rpcUrls)
  const notes: NodeNote[] = []
  const note = (one: NodeNote) => void notes.push(one)
  const createChain = (...urls: readonly string[]) =>
    createSolanaSwapChain({ network, rpcUrls: urls, lookupTables: changes.lookupTables ?? [], note })
  const chain = createChain(...rpcUrls)
  await pools.advance()

  /** An account with SOL and the tokens. */
  async function createFunded(lamports: bigint, held: Readonly<Record<string, bigint>> = {}): Promise<User> {
    const user = createUser()
    await node.deposit(user.address as never, lamports)
    for (const [symbol, units] of Object.entries(held))
      await node.depositToken(tokenOf(symbol) as never, user.address as never, units)
    mine(40)
    return user
  }

  /** Sends a prepared swap. Returns what the chain says of it. */
  async function send(user: User, unsigned: string) {
    const raw = signWith(user, unsigned)
    const { hash, action } = await chain.readSigned(raw)
    const accepted = await chain.broadcast(raw)
    mine(40)
    return { hash, action, accepted, seen: await chain.observe(hash) }
  }

  /** Adds a pool of Raydium CPMM with a mint of six decimals, worth so many lamports on each side. */
  function addPool({ name, mint, program, lamports, units = lamports }: AddedPool): string {
    const ofSol = { address: SOL, decimals: 9, program: tokenProgram, transferFee: null }
    const ofToken = { address: mint, decimals: 6, program, transferFee: null }
    const sides = [
      { mint: ofSol, units: lamports, ticker: 'sol' },
      { mint: ofToken, units, ticker: name },
    ].sort((a, b) => Buffer.compare(base58.decode(a.mint.address), base58.decode(b.mint.address)))
    const [first, second] = sides as [(typeof sides)[number], (typeof sides)[number]]
    const plan = {
      ...{ name: `added ${name}`, tickers: [first.ticker, second.ticker] },
      ...{ mints: [first.mint, second.mint], reserves: [first.units, second.units] },
    }
    const pool = createCpmmPool(plan as never, cpmmConfig(7, 2_500))
    for (const account of pool.genesis) node.bank.writeAccount(account)
    return pool.address
  }

  /** Adds a pair of Meteora DLMM of SOL and a mint of six decimals, with the active bin at the end of its array to which sales of SOL lead. */
  async function addPairAtEdge(name: string, mint: string): Promise<string> {
    const ofSol = { address: SOL, decimals: 9, program: tokenProgram, transferFee: null }
    const ofToken = { address: mint, decimals: 6, program: tokenProgram, transferFee: null }
    const units = 1_000_000_000_000n
    const isSolFirst = Buffer.compare(base58.decode(SOL), base58.decode(mint)) < 0
    // A bin array holds the bins 0 to 69; each is a five-hundredth above the one before.
    const atLast = BigInt(Math.round(Number(units) * 1.002 ** 69))
    const plan = isSolFirst
      ? { name, tickers: ['sol', name], mints: [ofSol, ofToken], reserves: [units, units] }
      : { name, tickers: [name, 'sol'], mints: [ofToken, ofSol], reserves: [units, atLast] }
    const pool = await createDlmmPool(plan as never, { binStep: 20, baseFactor: 10_000 })
    for (const account of pool.genesis) node.bank.writeAccount(account)
    return pool.address
  }

  /** Has the pools of a token searched and read. */
  async function request(token: string): Promise<void> {
    pools.request(token)
    await catchUp(pools)
  }

  const currentPools = (): readonly Pool[] => pools.current()?.pools ?? []
  const poolsOf = (...symbols: readonly string[]): readonly Pool[] =>
    currentPools().filter(({ tokens: of }) => symbols.every((symbol) => of.includes(tokenOf(symbol))))

  return {
    ...{
      node,
      mine,
      pools,
      chain,
      createFunded,
      send,
      sign: signWith,
      addPool,
      addPairAtEdge,
      createPools,
      createChain,
      /** Of all chains. */
      notes,
      request,
      poolsOf,
      currentPools,
    },
    unlistedMint: listedMarket.contracts.unlistedMint as string,
    stop: () => node.stop(),
  }
}

type AddedPool = Readonly<{ name: string; mint: string; program: string; lamports: bigint; units?: bigint }>

export type Market = Awaited<ReturnType<typeof startMarket>>

/** An order of executed swaps, without a fee unless `changes` has one. */
export function orderOf(
  user: User,
  [tokenIn, tokenOut]: readonly [string, string],
  swaps: readonly ExecutedSwap[],
  changes: Partial<SwapOrder> = {},
): SwapOrder {
  const sum = (some: readonly ExecutedSwap[], read: (one: ExecutedSwap) => bigint) =>
    some.reduce((total, one) => total + read(one), 0n)
  const amountIn = sum(
    swaps.filter(({ pool, tokenIn: index }) => pool.tokens[index] === tokenIn),
    (one) => one.amountIn,
  )
  const amountOut = sum(
    swaps.filter(({ pool, tokenOut: index }) => pool.tokens[index] === tokenOut),
    (one) => one.amountOut,
  )
  return {
    ...{ account: user.address, recipient: user.address, tokenIn, tokenOut, amountIn, ref, expiry: null, swaps },
    ...{ minReceived: (amountOut * 99n) / 100n, feePpm: 0, feeTo: null, ...changes },
  }
}
