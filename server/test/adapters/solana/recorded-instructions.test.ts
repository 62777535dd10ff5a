import { base58 } from '@scure/base'
import { describe, expect, test } from 'vitest'
import { readPublicVectors } from '../../../../test/support/vectors.ts'
import { dexOf } from '../../../src/adapters/solana/dexes/dexes.ts'
import type { SolanaPool } from '../../../src/adapters/solana/dexes/solana-dex.ts'
import { token2022Program, tokenProgram } from '../../../src/adapters/solana/program-address.ts'
import type { SolanaDexKind } from '../../../src/swap/domain/dex.ts'

/* Instructions that real programs accepted, against those that the server builds for the same pools. */

type Example = Readonly<{ instruction: string; pool: string; case: number; accounts: readonly string[]; data: string }>
type Stored = Readonly<{ address: string; data: string }>
type Pool = Readonly<{
  address: string
  cases: readonly Readonly<{ n: number; zeroForOne?: boolean; swapForY?: boolean; direction?: string }>[]
  poolData?: string
  pairData?: string
  ammData?: string
  config?: Stored
  bitmapExtension?: Stored
  tickArrays?: readonly Stored[]
  binArrays?: readonly Stored[]
}>
type Config = Readonly<{ address: string; [member: string]: unknown }>
type File = Readonly<{
  examples: readonly Example[]
  pools: readonly [Pool, ...Pool[]]
  globalConfig?: Config
  feeConfig?: Config
}>

const addressOf = (entry: string | undefined): string => entry?.split(' ')[0] ?? ''
const bytesOf = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64')

/** The pool of a file as the server reads it from its accounts. */
function readPool(kind: SolanaDexKind, file: File): SolanaPool {
  const [pool] = file.pools
  const dex = dexOf(kind)
  const data = bytesOf(pool.poolData ?? pool.pairData ?? pool.ammData)
  const stored = [pool.config, pool.bitmapExtension, ...(pool.tickArrays ?? []), ...(pool.binArrays ?? [])]
  const accounts = new Map(stored.flatMap((one) => (one === undefined ? [] : [[one.address, bytesOf(one.data)]])))
  for (const [address, content] of pumpConfigs(file)) accounts.set(address, content)
  const pairAt = ([first, second]: readonly [number, number]) =>
    [base58.encode(data.subarray(first, first + 32)), base58.encode(data.subarray(second, second + 32))] as const
  const identity = {
    ...{ id: pool.address, address: pool.address, dex: kind, decimals: [6, 6] as const },
    ...{ tokens: pairAt(dex.mintsAt), vaults: pairAt(dex.vaultsAt), programs: [tokenProgram, tokenProgram] as const },
  }
  const read = dex.read({
    ...{ identity, data, balances: [10n ** 12n, 10n ** 12n], transferFees: [null, null] },
    ...{ account: (address) => accounts.get(address) ?? (kind === 'pump-swap' ? Buffer.alloc(82) : null) },
    ...{ unixTime: 1_800_000_000n, slot: 1_000_000_000n },
  })
  if (read === null) throw new Error(`the first pool of ${kind} cannot be read`)
  return read
}

/** Accounts with the recipients of fees of the recording. */
function pumpConfigs({ globalConfig, feeConfig }: File): readonly (readonly [string, Buffer])[] {
  if (globalConfig === undefined || feeConfig === undefined) return []
  const data = Buffer.alloc(907)
  const [recipient] = globalConfig['protocolFeeRecipients'] as string[]
  const [buyback] = globalConfig['buybackFeeRecipients'] as string[]
  data.set(base58.decode(recipient ?? ''), 57)
  data.set(base58.decode(buyback ?? ''), 643)
  return [
    [globalConfig.address, data],
    [feeConfig.address, Buffer.alloc(69)],
  ]
}

/** Places of the owner and of the two token accounts in the instruction. */
const kinds: readonly Readonly<{
  kind: SolanaDexKind
  /** The token program of one of the mints decides which instruction is built. */
  program?: string
  file: string
  instruction: RegExp
  places: (isFirst: boolean) => readonly [number, number, number]
}>[] = [
  { kind: 'raydium-clmm', file: 'solana_raydium_clmm.json', instruction: /^swap$/, places: () => [0, 3, 4] },
  {
    ...{ kind: 'raydium-clmm', file: 'solana_raydium_clmm.json', instruction: /^swap_v2$/, program: token2022Program },
    places: () => [0, 3, 4],
  },
  { kind: 'meteora-dlmm', file: 'solana_meteora_dlmm.json', instruction: /^swap2$/, places: () => [10, 4, 5] },
  {
    ...{ kind: 'meteora-damm-v2', file: 'solana_meteora_damm_v2.json', instruction: /^swap2 exactIn$/ },
    places: () => [8, 2, 3],
  },
  { kind: 'raydium-amm-v4', file: 'solana_raydium_amm_v4.json', instruction: /^tag 16$/, places: () => [7, 5, 6] },
  {
    ...{ kind: 'pump-swap', file: 'solana_pumpswap.json', instruction: /^(sell|buy_exact_quote_in)$/ },
    places: (isFirst) => (isFirst ? [1, 5, 6] : [1, 6, 5]),
  },
]

/** The pool with those of its tick and bin arrays that the recording names. */
function onlyNamed(pool: SolanaPool, accounts: readonly string[]): SolanaPool {
  const isNamed = ({ address }: Readonly<{ address: string }>) => accounts.some((one) => addressOf(one) === address)
  if (pool.kind === 'raydium-clmm') return { ...pool, arrays: pool.arrays.filter(isNamed) }
  return pool.kind === 'meteora-dlmm' ? { ...pool, arrays: pool.arrays.filter(isNamed) } : pool
}

const isFirstToken = ({ zeroForOne, swapForY, direction }: Pool['cases'][number], instruction: string): boolean =>
  zeroForOne ??
  swapForY ??
  (direction === undefined ? instruction === 'sell' : direction === 'coinToPc' || direction === 'aToB')

describe.each(kinds)('a swap in a pool of $kind ($instruction)', ({ kind, program, file, instruction, places }) => {
  const recorded = readPublicVectors<File>(file)

  test.skipIf(recorded === null)('names the accounts that the program accepted', () => {
    if (recorded === null) return
    const read = readPool(kind, recorded)
    // The recording of CLMM always names the extension, which its pool does not need.
    const extension = recorded.pools[0].bitmapExtension?.address ?? null
    const read2022 = { ...read, programs: [tokenProgram, program ?? tokenProgram] as const }
    const whole = read2022.kind === 'raydium-clmm' ? { ...read2022, extension } : read2022
    const examples = recorded.examples.filter((one) => one.pool === 'pool0' && instruction.test(one.instruction))
    expect(examples.length).toBeGreaterThanOrEqual(2)
    for (const example of examples) {
      const row = recorded.pools[0].cases.find(({ n }) => n === example.case)
      const isFirst = row !== undefined && isFirstToken(row, example.instruction)
      const [owner = '', source = '', target = ''] = places(isFirst).map((place) => addressOf(example.accounts[place]))
      const data = Buffer.from(example.data, 'hex')
      const offset = kind === 'raydium-amm-v4' ? 1 : 8
      const amounts = { amountIn: data.readBigUInt64LE(offset), minOut: data.readBigUInt64LE(offset + 8) }
      const swap = { owner, source, target, ...amounts }
      const pool = onlyNamed(whole, example.accounts)
      const built = dexOf(kind).swap(pool, { ...swap, tokenIn: isFirst ? 0 : 1 })
      const roles = built.accounts.map(({ address, isSigner, isWritable }) =>
        [address, ...(isSigner ? ['signer'] : []), ...(isWritable ? ['writable'] : [])].join(' '),
      )
      // The recording may name more tick and bin arrays.
      expect(roles).toEqual(example.accounts.slice(0, roles.length))
      expect(roles.length).toBeGreaterThanOrEqual(example.accounts.length - 2)
      expect(built.program).toBe(dexOf(kind).program)
      // Recorded swaps of CLMM have an exact output, and trades of PumpSwap count their volume: the last byte.
      expect(Buffer.from(built.data).subarray(0, -1)).toEqual(data.subarray(0, -1))
      expect(dexOf(kind).readSwap(built)).toEqual({ pool: pool.address, source, target, ...amounts })
    }
  })
})
