import type { Address } from '@solana/kit'
import { decodeRaydiumAmmV4Pool, swapRaydiumAmmV4 } from '@swapyard/lib/pools/solana/raydium-amm-v4.ts'
import { vaultAccounts } from '../genesis-accounts.ts'
import { readTokenAccount, tokenProgram } from '../token-state.ts'
import {
  ANCHOR,
  addressesAt,
  codeOf,
  type DexClock,
  type DexInstruction,
  type DexOutcome,
  type DexProgram,
  type Pair,
  type ReadAccount,
  readOwned,
  unitsOf,
} from './dex-program.ts'
import { accountAt, addressOf, encodeCall, type MarketPool, meta, type PoolPlan, put } from './market-pool.ts'

const program = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8' as Address
/** The program's address for the seed `amm authority`. */
const poolAuthority = '5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1' as Address
const swapBaseInV2 = Buffer.from([16])
const swapBytes = 17

/** Offsets in the account of a pool. */
const at = {
  status: 0,
  feeNumerator: 176,
  feeDenominator: 184,
  needTakePnl: [192, 200],
  vaults: [336, 368],
  mints: [400, 432],
} as const
const poolBytes = 752

/* Errors of the program. */
const invalidInstruction = 28
const invalidOwner = 27
const invalidUserToken = 42
const wrongAccountsNumber = 24
const invalidProgramAddress = 7
const feePpm = 2_500

/** SwapBaseInV2. The sums of all trades are not updated: no swap reads them. */
export const raydiumAmmV4: DexProgram = { address: program, title: 'SwapBaseInV2 of Raydium AMM v4', execute }

function execute({ accounts, data: given, signers }: DexInstruction, read: ReadAccount, clock: DexClock): DexOutcome {
  const data = Buffer.from(given)
  if (!data.subarray(0, 1).equals(swapBaseInV2) || data.length !== swapBytes) return { error: invalidInstruction }
  const [spl, poolAddress, authority, coinVault, pcVault, source, target, owner] = accounts
  if (!poolAddress || !coinVault || !pcVault || !source || !target || !owner) return { error: wrongAccountsNumber }
  if (!signers.has(owner)) return { error: ANCHOR.notSigner }
  const pool = readOwned(read, poolAddress, program)
  if (pool === null) return { error: invalidOwner }
  const vaults = addressesAt(pool, at.vaults)
  if (spl !== tokenProgram || authority !== poolAuthority || vaults[0] !== coinVault || vaults[1] !== pcVault)
    return { error: invalidProgramAddress }
  const mints = addressesAt(pool, at.mints)
  const [from, to] = [readTokenAccount(read(source)), readTokenAccount(read(target))]
  const [inputIndex, outputIndex] = from?.mint === mints[0] ? ([0, 1] as const) : ([1, 0] as const)
  if (from?.mint !== mints[inputIndex] || to?.mint !== mints[outputIndex]) return { error: invalidUserToken }
  const state = decodeRaydiumAmmV4Pool(pool, [unitsOf(read, coinVault), unitsOf(read, pcVault)])
  const result = swapRaydiumAmmV4(state, {
    ...{ isExactInput: true, inputIndex, amount: data.readBigUInt64LE(1), limit: data.readBigUInt64LE(9) },
    ...{ unixTime: clock.unixTime, balance: from?.amount ?? 0n },
  })
  if (result.error !== null) return { error: codeOf(result.error) }
  pool.writeBigUInt64LE(result.next.status, at.status)
  const sideOf = (side: 0 | 1) => ({ tokenProgram, mint: mints[side] })
  return {
    error: null,
    transfers: [
      { ...sideOf(inputIndex), source, destination: vaults[inputIndex], authority: owner, units: result.paid },
      { ...sideOf(outputIndex), source: vaults[outputIndex], destination: target, authority, units: result.received },
    ],
    writes: new Map([[poolAddress, new Uint8Array(pool)]]),
  }
}

/** A pool with the program's usual fee of 0.25 %. */
export function createAmmV4Pool({ name, tickers, mints, reserves }: PoolPlan): MarketPool {
  const address = addressOf(name)
  const vaults: Pair<Address> = [addressOf(`${name} vault 0`), addressOf(`${name} vault 1`)]
  const data = Buffer.alloc(poolBytes)
  data.writeBigUInt64LE(6n, at.status)
  data.writeBigUInt64LE(25n, at.feeNumerator)
  data.writeBigUInt64LE(10_000n, at.feeDenominator)
  for (const index of [0, 1] as const) {
    put(data, vaults[index], at.vaults[index])
    put(data, mints[index].address, at.mints[index])
  }
  return {
    ...{ program: raydiumAmmV4, address, tickers, mints, vaults, tolerancePpm: feePpm },
    genesis: [accountAt(address, program, data), ...vaultAccounts(vaults, mints, poolAuthority, reserves)],
    readPrice(read) {
      const pool = readOwned(read, address, program) ?? data
      const reserveOf = (index: 0 | 1) => unitsOf(read, vaults[index]) - pool.readBigUInt64LE(at.needTakePnl[index])
      return Number(reserveOf(1)) / Number(reserveOf(0))
    },
    swap: (_, { owner, source, target, units }) => ({
      programAddress: program,
      accounts: [
        ...[meta(tokenProgram, 'r'), meta(address, 'w'), meta(poolAuthority, 'r')],
        ...[meta(vaults[0], 'w'), meta(vaults[1], 'w'), meta(source, 'w'), meta(target, 'w'), meta(owner, 's')],
      ],
      data: encodeCall(swapBaseInV2, [units, 0n]),
    }),
  }
}
