import type { Address, Instruction } from '@solana/kit'
import { findAssociatedTokenPda } from '@solana-program/token'
import { squareRoot } from '../market/sqrt-price.ts'
import { priceOf } from '../prices.ts'
import type { Bank } from './bank.ts'
import { raydiumCpmm, raydiumCpmmAuthority, swapBaseInput } from './raydium-cpmm-program.ts'
import type { MarketPool } from './solana-market.ts'
import { readTokenAccount } from './token-state.ts'

/** A swap in a pool of Raydium CPMM without a minimum, paid and received by the owner's associated accounts. */
export async function swapInstruction(
  pool: MarketPool,
  owner: Address,
  inputIndex: 0 | 1,
  units: bigint,
): Promise<Instruction> {
  const outputIndex = inputIndex === 0 ? 1 : 0
  const [input, output] = [pool.mints[inputIndex], pool.mints[outputIndex]]
  const ataOf = async ({ address: mint, program }: typeof input) =>
    (await findAssociatedTokenPda({ mint, owner, tokenProgram: program }))[0]
  const data = Buffer.alloc(24)
  data.set(swapBaseInput)
  data.writeBigUInt64LE(units, 8)
  return {
    programAddress: raydiumCpmm,
    accounts: [
      { address: owner, role: 2 },
      { address: raydiumCpmmAuthority, role: 0 },
      { address: pool.config.address, role: 0 },
      { address: pool.address, role: 1 },
      { address: await ataOf(input), role: 1 },
      { address: await ataOf(output), role: 1 },
      { address: pool.vaults[inputIndex], role: 1 },
      { address: pool.vaults[outputIndex], role: 1 },
      { address: input.program, role: 0 },
      { address: output.program, role: 0 },
      { address: input.address, role: 0 },
      { address: output.address, role: 0 },
      { address: pool.observation, role: 1 },
    ],
    data: new Uint8Array(data),
  }
}

const partsPerMillion = 1_000_000n

export type Trade = Readonly<{ inputIndex: 0 | 1; units: bigint }>

/** What to pay into a pool so that its price becomes the sandbox's; null if it is within the fee. */
export function planTrade(bank: Bank, pool: MarketPool, second: number | null): Trade | null {
  const [first, other] = pool.vaults.map((vault) => readTokenAccount(bank.readAccount(vault))?.amount ?? 0n)
  if (!first || !other) return null
  const worthOf = (side: 0 | 1, units: bigint) =>
    (units * priceOf(pool.tickers[side], second)) / 10n ** BigInt(pool.mints[side].decimals)
  const values = [worthOf(0, first), worthOf(1, other)] as const
  const inputIndex = values[0] < values[1] ? 0 : 1
  const [low, high] = inputIndex === 0 ? values : [values[1], values[0]]
  if ((high - low) * partsPerMillion <= low * pool.config.tradeFeeRate) return null
  const reserve = inputIndex === 0 ? first : other
  // The product stays, so the side that is worth less grows to the geometric mean of both.
  return { inputIndex, units: (reserve * (squareRoot(low * high) - low)) / low }
}
