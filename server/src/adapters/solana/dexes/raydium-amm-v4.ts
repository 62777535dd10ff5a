import { decodeRaydiumAmmV4Pool } from '@swapyard/lib/pools/solana/raydium-amm-v4.ts'
import { type RaydiumAmmV4RoutePool, reservesOf } from '../../../swap/routing/pools/solana/raydium-amm-v4.ts'
import { readonly, signer, writable } from '../instructions.ts'
import { tokenProgram } from '../program-address.ts'
import { decodeAmounts, encodeCall, type SolanaDex } from './solana-dex.ts'

const program = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'
/** The program's address for the seed `amm authority`. */
const authority = '5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1'
/** SwapBaseInV2, which needs no accounts of an order book. */
const SWAP_BASE_IN_V2 = Buffer.from([16])
const SWAP_BYTES = 17

/** Statuses of pools without funds in an order book: open, and open from a time on. */
const OPEN = 6n
const OPEN_LATER = 7n

export const raydiumAmmV4Dex: SolanaDex<RaydiumAmmV4RoutePool> = {
  kind: 'raydium-amm-v4',
  program,
  title: 'Raydium AMM v4',
  filters: [{ dataSize: 752 }],
  mintsAt: [400, 432],
  vaultsAt: [336, 368],
  accountsOf: () => [],
  read({ identity, data, balances, unixTime }) {
    const state = decodeRaydiumAmmV4Pool(data, balances)
    const isOpen = state.status === OPEN || (state.status === OPEN_LATER && state.openTime <= unixTime)
    if (!isOpen || state.feeDenominator === 0n) return null
    return { ...identity, kind: 'raydium-amm-v4', state, reserves: reservesOf(state) }
  },
  swap(pool, { owner, source, target, amountIn, minOut }) {
    return {
      program,
      accounts: [
        ...[readonly(tokenProgram), writable(pool.address), readonly(authority)],
        ...[writable(pool.vaults[0]), writable(pool.vaults[1]), writable(source), writable(target), signer(owner)],
      ],
      data: encodeCall(SWAP_BASE_IN_V2, [amountIn, minOut]),
    }
  },
  readSwap(instruction) {
    const amounts = decodeAmounts(instruction, SWAP_BASE_IN_V2, SWAP_BYTES)
    const at = (index: number) => instruction.accounts[index]?.address ?? ''
    return amounts && { pool: at(1), source: at(5), target: at(6), ...amounts }
  },
  errors: { 22: 'the pool is not open for swaps' },
  belowMinimum: [30],
}
