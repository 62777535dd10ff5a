import { type Address, createSolanaRpc, generateKeyPairSigner, type Instruction, type KeyPairSigner } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { findAssociatedTokenPda, getCreateAssociatedTokenIdempotentInstruction } from '@solana-program/token'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MarketPool } from './dexes/market-pool.ts'
import { signInstructions } from './sign-instructions.fixture.ts'
import { catalogueTokens, marketPools, testTokens } from './solana-market.ts'
import { startSolanaNode } from './solana-node.ts'
import { planTrade } from './solana-trader.ts'

/* Swaps of Raydium CPMM through the node's RPC, with amounts by the formula of a constant product. */

type Node = Awaited<ReturnType<typeof startSolanaNode>>
let node: Node
let rpc: ReturnType<typeof createSolanaRpc>
let user: KeyPairSigner

const [usdc, usdt] = catalogueTokens as [(typeof catalogueTokens)[number], (typeof catalogueTokens)[number]]
const [levy] = testTokens as [(typeof testTokens)[number]]
const poolOf = (first: string, second: string) => {
  const found = marketPools.find(({ tickers }) => tickers.includes(first) && tickers.includes(second))
  if (found === undefined) throw new Error('no pool')
  return found
}
const stable = poolOf('usdc', 'usdt')
const inputOf = (ticker: string, pool = stable) => (pool.tickers[0] === ticker ? 0 : 1)

beforeEach(async () => {
  node = await startSolanaNode({
    port: 0,
    log: () => undefined,

    deploysMarket: true,
  })
  rpc = createSolanaRpc(node.rpcUrl)
  user = await generateKeyPairSigner()
  await node.deposit(user.address, 10_000_000_000n)
  await node.depositToken(usdc.address, user.address, 5_000_000_000n)
  node.mine(40)
})
afterEach(() => node.stop())

const ataOf = async (token: (typeof catalogueTokens)[number]) =>
  (await findAssociatedTokenPda({ mint: token.address, owner: user.address, tokenProgram: token.program }))[0]
const createAccount = async (token: (typeof catalogueTokens)[number]) =>
  getCreateAssociatedTokenIdempotentInstruction({
    ...{ payer: user, ata: await ataOf(token), owner: user.address, mint: token.address, tokenProgram: token.program },
  })
async function swapInstruction(
  pool: MarketPool,
  owner: Address,
  inputIndex: 0 | 1,
  units: bigint,
): Promise<Instruction> {
  const [source, target] = await Promise.all(
    [pool.mints[inputIndex], pool.mints[inputIndex === 0 ? 1 : 0]].map(
      async ({ address: mint, program }) => (await findAssociatedTokenPda({ mint, owner, tokenProgram: program }))[0],
    ),
  )
  const accounts = { owner, source: source as Address, target: target as Address }
  return pool.swap((address) => node.bank.readAccount(address), { ...accounts, inputIndex, units })
}
const held = async (account: Address): Promise<bigint> =>
  BigInt((await rpc.getTokenAccountBalance(account, { commitment: 'processed' }).send()).value.amount)

async function sign(instructions: readonly Instruction[]) {
  const { value } = await rpc.getLatestBlockhash().send()
  return signInstructions(user, value.blockhash, instructions)
}

async function swap(instructions: readonly Instruction[]) {
  const wire = await sign(instructions)
  const { value: simulated } = await rpc.simulateTransaction(wire, { encoding: 'base64', sigVerify: true }).send()
  const signature = await rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send()
  node.mine(40)
  const found = await rpc.getTransaction(signature, { encoding: 'json', maxSupportedTransactionVersion: 0 }).send()
  expect(found?.meta?.err).toEqual(simulated.err)
  return found?.meta
}

/** x · y = k with a fee of 0.25 % on the input, rounded up; the output is rounded down. */
function outputOf(amountIn: bigint, reserveIn: bigint, reserveOut: bigint): bigint {
  const net = amountIn - (amountIn * 2_500n + 999_999n) / 1_000_000n
  return (net * reserveOut) / (reserveIn + net)
}

/** 12 % and 4 % of the trade fee stay in the vault and trade no more. */
function feesOf(amountIn: bigint): bigint {
  const fee = (amountIn * 2_500n + 999_999n) / 1_000_000n
  return (fee * 120_000n) / 1_000_000n + (fee * 40_000n) / 1_000_000n
}

describe('a swap of Raydium CPMM', () => {
  test('pays by the reserves, and a second one in the same transaction by what the first left', async () => {
    const index = inputOf('usdc')
    const [reserveIn, reserveOut] = [await held(stable.vaults[index]), await held(stable.vaults[1 - index] as Address)]
    const [first, second] = [1_000_000_000n, 500_000_000n]
    const before = await rpc.getBalance(user.address).send()
    const meta = await swap([
      await createAccount(usdt),
      await swapInstruction(stable, user.address, index, first),
      await swapInstruction(stable, user.address, index, second),
    ])
    const paid = outputOf(first, reserveIn, reserveOut)
    const later = outputOf(second, reserveIn + first - feesOf(first), reserveOut - paid)
    expect(await held(await ataOf(usdt))).toBe(paid + later)
    expect(await held(await ataOf(usdc))).toBe(5_000_000_000n - first - second)
    expect(await held(stable.vaults[index])).toBe(reserveIn + first + second)
    // One signature: those of the pools' authorities cost nothing.
    expect(meta?.fee).toBe(5_000n)
    const rent = await rpc.getMinimumBalanceForRentExemption(165n).send()
    expect((await rpc.getBalance(user.address).send()).value).toBe(before.value - 5_000n - rent)
    // Each swap shows the two transfers as its inner instructions.
    expect(meta?.innerInstructions?.filter(({ index: at }) => at > 0).map((one) => one.instructions.length)).toEqual([
      2, 2,
    ])
  })

  test('withholds the transfer fee of a Token-2022 mint from what the user gets', async () => {
    const pool = poolOf('usdc', 'levy')
    const index = inputOf('usdc', pool)
    const [reserveIn, reserveOut] = [await held(pool.vaults[index]), await held(pool.vaults[1 - index] as Address)]
    const swapped = await swapInstruction(pool, user.address, index, 100_000_000n)
    await swap([await createAccount(levy), swapped])
    const gross = outputOf(100_000_000n, reserveIn, reserveOut)
    expect(await held(await ataOf(levy))).toBe(gross - (gross + 99n) / 100n)
  })

  test('below its minimum fails with the code of the program, costs the fee and reverts the rest', async () => {
    const index = inputOf('usdc')
    const instruction = await swapInstruction(stable, user.address, index, 1_000_000n)
    const data = Buffer.from(instruction.data ?? [])
    data.writeBigUInt64LE(1_000_000n, 16)
    const before = await rpc.getBalance(user.address).send()
    const { address } = await generateKeyPairSigner()
    const meta = await swap([
      getTransferSolInstruction({ source: user, destination: address, amount: 1_000_000_000n }),
      await createAccount(usdt),
      { ...instruction, data: new Uint8Array(data) },
    ])
    expect(meta?.err).toEqual({ InstructionError: [2n, { Custom: 6005n }] })
    expect((await rpc.getBalance(user.address).send()).value).toBe(before.value - 5_000n)
    expect((await rpc.getBalance(address).send()).value).toBe(0n)
  })

  test('is reverted with an instruction that fails after it', async () => {
    const index = inputOf('usdc')
    const vault = await held(stable.vaults[index])
    const state = await rpc.getAccountInfo(stable.address, { encoding: 'base64' }).send()
    const { address } = await generateKeyPairSigner()
    const meta = await swap([
      await createAccount(usdt),
      await swapInstruction(stable, user.address, index, 1_000_000n),
      getTransferSolInstruction({ source: user, destination: address, amount: 100_000_000_000n }),
    ])
    expect(meta?.err).toEqual({ InstructionError: [2n, { Custom: 1n }] })
    expect(await held(stable.vaults[index])).toBe(vault)
    expect((await rpc.getAccountInfo(stable.address, { encoding: 'base64' }).send()).value?.data).toEqual(
      state.value?.data,
    )
  })

  test('of the trader brings a moved pool back to the price of the sandbox', async () => {
    expect(planTrade(node.bank, stable, null)).toBe(null)
    await node.depositToken(usdc.address, user.address, 200_000_000_000n)
    node.mine(40)
    await swap([
      await createAccount(usdt),
      await swapInstruction(stable, user.address, inputOf('usdc'), 200_000_000_000n),
    ])
    const plan = planTrade(node.bank, stable, null)
    expect(plan?.inputIndex).toBe(1 - inputOf('usdc'))
    if (plan !== null) await node.trade(stable, plan)
    node.mine(1)
    expect(planTrade(node.bank, stable, null)).toBe(null)
  })

  test('is undone by a fork, with the fees that the pool counts', async () => {
    const state = async () =>
      (await rpc.getAccountInfo(stable.address, { encoding: 'base64', commitment: 'processed' }).send()).value?.data
    const before = await state()
    const wire = await sign([
      await createAccount(usdt),
      await swapInstruction(stable, user.address, inputOf('usdc'), 1_000_000_000n),
    ])
    await rpc.sendTransaction(wire, { encoding: 'base64' }).send()
    node.mine(2)
    expect(await state()).not.toEqual(before)
    node.fork(2)
    expect(await state()).toEqual(before)
  })

  test.for([
    ['another authority', 1, 2012],
    ['another config', 2, 2001],
    ['vaults of another pool', 6, 6008],
    ['another observation account', 12, 2001],
  ] as const)('with %s is refused', async ([, place, code]) => {
    const instruction = await swapInstruction(stable, user.address, inputOf('usdc'), 1_000_000n)
    // Of a pool with another config.
    const other = await swapInstruction(marketPools[1] as MarketPool, user.address, 0, 1_000_000n)
    const replacement = place === 1 ? stable.address : (other.accounts?.[place]?.address as Address)
    const accounts = (instruction.accounts ?? []).map((meta, index) =>
      index === place ? { ...meta, address: replacement } : meta,
    )
    const meta = await swap([await createAccount(usdt), { ...instruction, accounts }])
    expect(meta?.err).toEqual({ InstructionError: [1n, { Custom: BigInt(code) }] })
  })

  test('needs the signature of the account that pays', async () => {
    const thief = await generateKeyPairSigner()
    await node.deposit(thief.address, 1_000_000_000n)
    node.mine(40)
    const instruction = await swapInstruction(stable, user.address, inputOf('usdc'), 1_000_000n)
    const owner = user
    user = thief
    await node.depositToken(usdt.address, thief.address, 1n)
    node.mine(40)
    const target = await ataOf(usdt)
    const accounts = (instruction.accounts ?? []).map((meta, place) => {
      if (meta.address === owner.address) return { ...meta, role: 0 as const }
      return place === 5 ? { ...meta, address: target } : meta
    })
    const meta = await swap([{ ...instruction, accounts }])
    expect(meta?.err).toEqual({ InstructionError: [0n, { Custom: 3010n }] })
  })
})
