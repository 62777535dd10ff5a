import { base58 } from '@scure/base'
import {
  decodeRaydiumCpmmConfig,
  decodeRaydiumCpmmPool,
  type RaydiumCpmmPool,
} from '@swapyard/lib/pools/solana/raydium-cpmm.ts'
import { type RaydiumCpmmRoutePool, reservesOf } from '../../swap/routing/pools/raydium-cpmm.ts'
import { readonly, signer, writable } from './instructions.ts'
import type { Instruction } from './transaction.ts'

export const raydiumCpmmProgram = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'
/** The program's address for the seed `vault_and_lp_mint_auth_seed`. */
const authority = 'GpMZbSM2GgvTKHJirzeGfMFoaZ8UR2X7F4v8vHTvxFbL'
/** First 8 bytes of sha256("global:swap_base_input"). */
const SWAP_BASE_INPUT = Buffer.from('8fbe5adac41e33de', 'hex')

/* The account of a pool. */
export const POOL_BYTES = 637
export const MINT_OFFSETS = [168, 200] as const
const STATUS = 329
const SWAP_DISABLED = 4
const CREATOR_FEE_ENABLED = 390
const OPEN_TIME = 373

/** The accounts that a pool names, which never change. */
export type CpmmAccounts = Pick<
  RaydiumCpmmRoutePool,
  'config' | 'vaults' | 'tokens' | 'programs' | 'decimals' | 'observation'
>

export function readCpmmAccounts(data: Buffer): CpmmAccounts {
  const at = (offset: number) => base58.encode(data.subarray(offset, offset + 32))
  return {
    config: at(8),
    vaults: [at(72), at(104)],
    tokens: [at(MINT_OFFSETS[0]), at(MINT_OFFSETS[1])],
    programs: [at(232), at(264)],
    observation: at(296),
    decimals: [data[331] ?? 0, data[332] ?? 0],
  }
}

/** Whether anyone can swap now. The maths knows no fee of a pool's creator, so such pools are left out. */
export const isTradable = (data: Buffer, unixTime: bigint): boolean =>
  ((data[STATUS] ?? 0) & SWAP_DISABLED) === 0 &&
  data[CREATOR_FEE_ENABLED] === 0 &&
  data.readBigUInt64LE(OPEN_TIME) <= unixTime

export type CpmmState = Readonly<{
  data: Buffer
  config: Buffer
  vaults: readonly [bigint, bigint]
  transferFees: RaydiumCpmmPool['transferFees']
}>

export function toCpmmPool(
  identity: Readonly<{ address: string; dex: string }>,
  accounts: CpmmAccounts,
  { data, config, vaults, transferFees }: CpmmState,
): RaydiumCpmmRoutePool {
  const state = decodeRaydiumCpmmPool(data, decodeRaydiumCpmmConfig(config), vaults, transferFees)
  return { ...identity, id: identity.address, kind: 'raydium-cpmm', ...accounts, state, reserves: reservesOf(state) }
}

export type CpmmSwap = Readonly<{
  owner: string
  source: string
  target: string
  tokenIn: number
  amountIn: bigint
  minOut: bigint
}>

export function swapCpmm(pool: RaydiumCpmmRoutePool, { owner, source, target, tokenIn, ...amounts }: CpmmSwap) {
  const [input, output] = tokenIn === 0 ? ([0, 1] as const) : ([1, 0] as const)
  const data = Buffer.alloc(24)
  data.set(SWAP_BASE_INPUT)
  data.writeBigUInt64LE(amounts.amountIn, 8)
  data.writeBigUInt64LE(amounts.minOut, 16)
  return {
    program: raydiumCpmmProgram,
    accounts: [
      ...[signer(owner), readonly(authority), readonly(pool.config), writable(pool.address)],
      ...[writable(source), writable(target), writable(pool.vaults[input]), writable(pool.vaults[output])],
      ...[readonly(pool.programs[input]), readonly(pool.programs[output])],
      ...[readonly(pool.tokens[input] ?? ''), readonly(pool.tokens[output] ?? ''), writable(pool.observation)],
    ],
    data: new Uint8Array(data),
  } satisfies Instruction
}

/** Null for any other instruction. */
export function readCpmmSwap({ program, accounts, data }: Instruction) {
  const bytes = Buffer.from(data)
  if (program !== raydiumCpmmProgram || bytes.length !== 24 || !bytes.subarray(0, 8).equals(SWAP_BASE_INPUT))
    return null
  const at = (index: number) => accounts[index]?.address ?? ''
  return {
    ...{ pool: at(3), target: at(5), tokenIn: at(10), tokenOut: at(11) },
    ...{ amountIn: bytes.readBigUInt64LE(8), minOut: bytes.readBigUInt64LE(16) },
  }
}
