import type { Address, MaybeEncodedAccount } from '@solana/kit'
import { decodeDammPool } from '@swapyard/lib/pools/solana/meteora-damm-v2-accounts.ts'
import { decodeDlmmBinArray, decodeDlmmPair } from '@swapyard/lib/pools/solana/meteora-dlmm-accounts.ts'
import { decodeRaydiumAmmV4Pool } from '@swapyard/lib/pools/solana/raydium-amm-v4.ts'
import { decodeClmmPool, decodeClmmTickArray } from '@swapyard/lib/pools/solana/raydium-clmm-accounts.ts'
import { expect, test } from 'vitest'
import { readPublicVectors } from '../../../../test/support/vectors.ts'
import type { DexProgram, DexTransfer } from './dex-program.ts'
import { meteoraDammV2 } from './meteora-damm-v2.ts'
import { meteoraDlmm } from './meteora-dlmm.ts'
import { pumpSwap } from './pump-swap.ts'
import { raydiumAmmV4 } from './raydium-amm-v4.ts'
import { raydiumClmm } from './raydium-clmm.ts'
import { raydiumCpmm } from './raydium-cpmm.ts'
import { type CpmmFile, replayCpmm } from './recorded-cpmm-swaps.fixture.ts'
import { type DammFile, replayDamm } from './recorded-damm-swaps.fixture.ts'
import { type PumpFile, replayPump } from './recorded-pump-swaps.fixture.ts'
import { type Replay, replayAmmV4, replayClmm, replayDlmm } from './recorded-swaps.fixture.ts'

/* The sandbox's programs do to accounts what the real programs did. */

const clmm = readPublicVectors<Parameters<typeof replayClmm>[1]>('solana_raydium_clmm.json')
const dlmm = readPublicVectors<Parameters<typeof replayDlmm>[2]>('solana_meteora_dlmm.json')
const ammV4 = readPublicVectors<Parameters<typeof replayAmmV4>[1]>('solana_raydium_amm_v4.json')
const cpmm = readPublicVectors<CpmmFile>('solana_raydium_cpmm.json')
const damm = readPublicVectors<DammFile>('solana_meteora_damm_v2.json')
const pump = readPublicVectors<PumpFile>('solana_pumpswap.json')

const dlmmEventAuthority = 'D1ZN9Wj1fRSUQfCjhvnu1hqDMT7hzjzBBpi12nVniYD6' as Address
const panicked = 0xffff_ffff

function totals(transfers: readonly DexTransfer[]): ReadonlyMap<Address, bigint> {
  const sums = new Map<Address, bigint>()
  for (const { destination, units } of transfers) sums.set(destination, (sums.get(destination) ?? 0n) + units)
  return sums
}

/** Executes each row, compares the outcome and what `decode` reads in each account. Returns the number of accepted rows. */
function compare(program: DexProgram, rows: Iterable<Replay>, decode: (data: Buffer) => unknown): number {
  let accepted = 0
  for (const { name, instruction, clock, accounts, expected, after } of rows) {
    const read = (address: Address): MaybeEncodedAccount => accounts.get(address) ?? { exists: false, address }
    const outcome = program.execute(instruction, read, clock)
    if ('error' in expected) {
      expect(outcome.error, name).toBe(expected.error.code ?? panicked)
      continue
    }
    if (outcome.error !== null) throw new Error(`${name}: refused with ${outcome.error}`)
    accepted += 1
    expect(totals(outcome.transfers), name).toEqual(expected.moved)
    for (const [address, bytes] of after) {
      const written = outcome.writes.get(address)
      const account = read(address)
      const now = written ?? (account.exists ? account.data : new Uint8Array())
      expect(decode(Buffer.from(now)), `${name}, account ${address}`).toEqual(decode(bytes))
    }
  }
  return accepted
}

const poolBytes = { clmm: 1544, dlmm: 904 }

test.skipIf(clmm === null)('swap and swap_v2 of Raydium CLMM', () => {
  if (clmm === null) return
  const decode = (data: Buffer) => (data.length === poolBytes.clmm ? decodeClmmPool(data) : decodeClmmTickArray(data))
  expect(compare(raydiumClmm, replayClmm(raydiumClmm, clmm), decode)).toBe(224)
})

test.skipIf(dlmm === null)('swap2 of Meteora DLMM', () => {
  if (dlmm === null) return
  const decode = (data: Buffer) => (data.length === poolBytes.dlmm ? decodeDlmmPair(data) : decodeDlmmBinArray(data))
  const rows = replayDlmm(meteoraDlmm, dlmmEventAuthority, dlmm)
  expect(compare(meteoraDlmm, rows, decode)).toBeGreaterThan(100)
})

test.skipIf(ammV4 === null)('SwapBaseInV2 of Raydium AMM v4', () => {
  if (ammV4 === null) return
  const decode = (data: Buffer) => decodeRaydiumAmmV4Pool(data, [0n, 0n])
  expect(compare(raydiumAmmV4, replayAmmV4(raydiumAmmV4, ammV4), decode)).toBeGreaterThan(70)
})

test.skipIf(cpmm === null)('swap_base_input of Raydium CPMM, with every byte of the pool', () => {
  if (cpmm === null) return
  expect(compare(raydiumCpmm, replayCpmm(raydiumCpmm, cpmm), (data) => data.toString('hex'))).toBe(193)
})

test.skipIf(damm === null)('swap and swap2 of Meteora DAMM v2', () => {
  if (damm === null) return
  expect(compare(meteoraDammV2, replayDamm(meteoraDammV2, damm), decodeDammPool)).toBeGreaterThan(400)
})

test.skipIf(pump === null)('sell and buy_exact_quote_in of PumpSwap', () => {
  if (pump === null) return
  expect(compare(pumpSwap, replayPump(pumpSwap, pump), () => null)).toBeGreaterThan(100)
})
