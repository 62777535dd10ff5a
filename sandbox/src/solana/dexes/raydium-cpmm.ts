import type { Address, MaybeEncodedAccount } from '@solana/kit'
import {
  decodeRaydiumCpmmConfig,
  decodeRaydiumCpmmPool,
  swapRaydiumCpmm,
} from '@swapyard/lib/pools/solana/raydium-cpmm.ts'
import { vaultAccounts } from '../genesis-accounts.ts'
import {
  ANCHOR,
  addressAt,
  addressesAt,
  codeOf,
  type DexClock,
  type DexInstruction,
  type DexOutcome,
  type DexProgram,
  type Pair,
  type ReadAccount,
  readOwned,
  readTransferFees,
  unitsOf,
} from './dex-program.ts'
import { accountAt, addressOf, encodeCall, type MarketPool, meta, type PoolPlan, put } from './market-pool.ts'

const program = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C' as Address
/** The program's address for the seed `vault_and_lp_mint_auth_seed`. */
const poolAuthority = 'GpMZbSM2GgvTKHJirzeGfMFoaZ8UR2X7F4v8vHTvxFbL' as Address

/** First 8 bytes of sha256("global:swap_base_input"). */
const swapBaseInput = Buffer.from('8fbe5adac41e33de', 'hex')
/** First 8 bytes of sha256("account:PoolState") and sha256("account:AmmConfig"). */
const poolStateMark = Buffer.from('f7ede3f5d7c3de46', 'hex')
const ammConfigMark = Buffer.from('daf42168cbcb2b6f', 'hex')

/** Offsets in the account of a pool. */
const at = {
  config: 8,
  vaults: [72, 104],
  mints: [168, 200],
  programs: [232, 264],
  observation: 296,
  protocolFees: [341, 349],
  fundFees: [357, 365],
  recentEpoch: 381,
} as const
const poolBytes = 637
const invalidVault = 6008

/** swap_base_input. The observation account is not updated: no swap reads it. */
export const raydiumCpmm: DexProgram = { address: program, title: 'swap_base_input of Raydium CPMM', execute }

function execute(instruction: DexInstruction, read: ReadAccount, clock: DexClock): DexOutcome {
  const data = Buffer.from(instruction.data)
  if (!data.subarray(0, 8).equals(swapBaseInput) || data.length !== 24) return { error: ANCHOR.unknownInstruction }
  const [payer, authority, config, poolAddress, source, target, vaultIn, vaultOut, ...rest] = instruction.accounts
  const [programIn, programOut, mintIn, mintOut, observation] = rest
  if (!payer || !config || !poolAddress || !source || !target || !vaultIn || !vaultOut || !observation)
    return { error: ANCHOR.notEnoughAccounts }
  if (!instruction.signers.has(payer)) return { error: ANCHOR.notSigner }
  if (!programIn || !programOut || !mintIn || !mintOut || authority !== poolAuthority)
    return { error: ANCHOR.constraintAddress }
  if (!read(poolAddress).exists || !read(config).exists) return { error: ANCHOR.notInitialized }
  const [pool, configData] = [readOwned(read, poolAddress, program), readOwned(read, config, program)]
  if (pool === null || configData === null) return { error: ANCHOR.wrongOwner }
  if (addressAt(pool, at.config) !== config || addressAt(pool, at.observation) !== observation)
    return { error: ANCHOR.constraintHasOne }
  const vaultsOf = addressesAt(pool, at.vaults)
  const inputIndex = vaultsOf[0] === vaultIn ? 0 : 1
  const outputIndex = inputIndex === 0 ? 1 : 0
  if (vaultsOf[inputIndex] !== vaultIn || vaultsOf[outputIndex] !== vaultOut) return { error: invalidVault }
  const isOf = (mint: Address, tokenProgram: Address, index: 0 | 1) =>
    addressAt(pool, at.mints[index]) === mint && addressAt(pool, at.programs[index]) === tokenProgram
  if (!isOf(mintIn, programIn, inputIndex) || !isOf(mintOut, programOut, outputIndex))
    return { error: ANCHOR.constraintAddress }
  const vaults = [unitsOf(read, vaultsOf[0]), unitsOf(read, vaultsOf[1])] as const
  const fees = readTransferFees(read, addressesAt(pool, at.mints), clock.epoch)
  const state = decodeRaydiumCpmmPool(pool, decodeRaydiumCpmmConfig(configData), vaults, fees)
  const amount = data.readBigUInt64LE(8)
  const swap = { isExactInput: true, inputIndex, amount, limit: data.readBigUInt64LE(16), ...clock } as const
  const result = swapRaydiumCpmm(state, swap)
  if (result.error !== null) return { error: codeOf(result.error) }
  const { next } = result
  const units = state.vaults[outputIndex] - next.vaults[outputIndex]
  for (const index of [0, 1] as const) {
    pool.writeBigUInt64LE(next.protocolFees[index], at.protocolFees[index])
    pool.writeBigUInt64LE(next.fundFees[index], at.fundFees[index])
  }
  pool.writeBigUInt64LE(next.recentEpoch, at.recentEpoch)
  return {
    error: null,
    transfers: [
      { tokenProgram: programIn, source, mint: mintIn, destination: vaultIn, authority: payer, units: amount },
      { tokenProgram: programOut, source: vaultOut, mint: mintOut, destination: target, authority, units },
    ],
    writes: new Map([[poolAddress, new Uint8Array(pool)]]),
  }
}

/** `feePpm`: the trade fee. 12 % and 4 % of it go to the protocol and the fund. */
export type CpmmConfig = Readonly<{ address: Address; index: number; feePpm: number }>

export const cpmmConfig = (index: number, feePpm: number): CpmmConfig => ({
  ...{ address: addressOf(`raydium cpmm config ${index}`), index, feePpm },
})

function configAccount({ address, index, feePpm }: CpmmConfig): MaybeEncodedAccount {
  const data = Buffer.alloc(236)
  data.set(ammConfigMark)
  data.writeUInt16LE(index, 10)
  data.writeBigUInt64LE(BigInt(feePpm), 12)
  data.writeBigUInt64LE(120_000n, 20)
  data.writeBigUInt64LE(40_000n, 28)
  return accountAt(address, program, data)
}

export function createCpmmPool({ name, tickers, mints, reserves }: PoolPlan, config: CpmmConfig): MarketPool {
  const address = addressOf(name)
  const vaults: Pair<Address> = [addressOf(`${name} vault 0`), addressOf(`${name} vault 1`)]
  const observation = addressOf(`${name} observation`)
  const data = Buffer.alloc(poolBytes)
  data.set(poolStateMark)
  put(data, config.address, at.config)
  put(data, observation, at.observation)
  for (const index of [0, 1] as const) {
    put(data, vaults[index], at.vaults[index])
    put(data, mints[index].address, at.mints[index])
    put(data, mints[index].program, at.programs[index])
    data[331 + index] = mints[index].decimals
  }
  return {
    ...{ program: raydiumCpmm, address, tickers, mints, vaults, tolerancePpm: config.feePpm },
    genesis: [
      configAccount(config),
      accountAt(address, program, data),
      accountAt(observation, program, Buffer.alloc(4075)),
      ...vaultAccounts(vaults, mints, poolAuthority, reserves),
    ],
    readPrice(read) {
      const pool = readOwned(read, address, program) ?? Buffer.alloc(poolBytes)
      const reserveOf = (index: 0 | 1) =>
        unitsOf(read, vaults[index]) -
        pool.readBigUInt64LE(at.protocolFees[index]) -
        pool.readBigUInt64LE(at.fundFees[index])
      return Number(reserveOf(1)) / Number(reserveOf(0))
    },
    swap(_, { owner, source, target, inputIndex, units }) {
      const outputIndex = inputIndex === 0 ? 1 : 0
      const [input, output] = [mints[inputIndex], mints[outputIndex]]
      return {
        programAddress: program,
        accounts: [
          ...[meta(owner, 's'), meta(poolAuthority, 'r'), meta(config.address, 'r'), meta(address, 'w')],
          ...[meta(source, 'w'), meta(target, 'w'), meta(vaults[inputIndex], 'w'), meta(vaults[outputIndex], 'w')],
          ...[meta(input.program, 'r'), meta(output.program, 'r'), meta(input.address, 'r')],
          ...[meta(output.address, 'r'), meta(observation, 'w')],
        ],
        data: encodeCall(swapBaseInput, [units, 0n]),
      }
    },
  }
}
