import { decodeRaydiumCpmmConfig, decodeRaydiumCpmmPool } from '@swapyard/lib/pools/solana/raydium-cpmm.ts'
import { type RaydiumCpmmRoutePool, reservesOf } from '../../../swap/routing/pools/solana/raydium-cpmm.ts'
import { readonly, signer, writable } from '../instructions.ts'
import { addressAt, decodeAmounts, encodeCall, type SolanaDex } from './solana-dex.ts'

const program = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'
/** The program's address for the seed `vault_and_lp_mint_auth_seed`. */
const authority = 'GpMZbSM2GgvTKHJirzeGfMFoaZ8UR2X7F4v8vHTvxFbL'
/** First 8 bytes of sha256("global:swap_base_input"). */
const SWAP_BASE_INPUT = Buffer.from('8fbe5adac41e33de', 'hex')

/* Offsets in the account of a pool. */
const CONFIG = 8
const OBSERVATION = 296
const STATUS = 329
const SWAP_DISABLED = 4
const OPEN_TIME = 373
const CREATOR_FEE_ENABLED = 390

/** Whether anyone can swap now. The maths knows no fee of a pool's creator, so such pools are left out. */
const isTradable = (data: Buffer, unixTime: bigint): boolean =>
  ((data[STATUS] ?? 0) & SWAP_DISABLED) === 0 &&
  data[CREATOR_FEE_ENABLED] === 0 &&
  data.readBigUInt64LE(OPEN_TIME) <= unixTime

export const raydiumCpmmDex: SolanaDex<RaydiumCpmmRoutePool> = {
  kind: 'raydium-cpmm',
  program,
  title: 'Raydium CPMM',
  filters: [{ dataSize: 637 }],
  mintsAt: [168, 200],
  vaultsAt: [72, 104],
  accountsOf: (_, data) => [addressAt(data, CONFIG)],
  read({ identity, data, balances, transferFees, account, unixTime }) {
    const config = account(addressAt(data, CONFIG))
    if (config === null || !isTradable(data, unixTime)) return null
    const state = decodeRaydiumCpmmPool(data, decodeRaydiumCpmmConfig(config), balances, transferFees)
    const accounts = { config: addressAt(data, CONFIG), observation: addressAt(data, OBSERVATION) }
    return { ...identity, ...accounts, kind: 'raydium-cpmm', state, reserves: reservesOf(state) }
  },
  swap(pool, { owner, source, target, tokenIn, amountIn, minOut }) {
    const tokenOut = tokenIn === 0 ? 1 : 0
    return {
      program,
      accounts: [
        ...[signer(owner), readonly(authority), readonly(pool.config), writable(pool.address)],
        ...[writable(source), writable(target), writable(pool.vaults[tokenIn]), writable(pool.vaults[tokenOut])],
        ...[readonly(pool.programs[tokenIn]), readonly(pool.programs[tokenOut])],
        ...[readonly(pool.tokens[tokenIn] ?? ''), readonly(pool.tokens[tokenOut] ?? ''), writable(pool.observation)],
      ],
      data: encodeCall(SWAP_BASE_INPUT, [amountIn, minOut]),
    }
  },
  readSwap(instruction) {
    const amounts = decodeAmounts(instruction, SWAP_BASE_INPUT, 24)
    const at = (index: number) => instruction.accounts[index]?.address ?? ''
    return amounts && { pool: at(3), source: at(4), target: at(5), ...amounts }
  },
  errors: { 6000: 'the pool is not open for swaps' },
  belowMinimum: [6005],
}
