import { type Address, getAddressDecoder } from '@solana/kit'
import { readTransferFeeConfig } from '@swapyard/lib/pools/solana/mint-extensions.ts'
import {
  decodeRaydiumCpmmConfig,
  decodeRaydiumCpmmPool,
  swapRaydiumCpmm,
} from '@swapyard/lib/pools/solana/raydium-cpmm.ts'
import type { DexInstruction, DexOutcome, DexProgram, ReadAccount } from './dex-program.ts'
import { readTokenAccount } from './token-state.ts'

export const raydiumCpmm = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C' as Address
/** The program's address for the seed `vault_and_lp_mint_auth_seed`. */
export const raydiumCpmmAuthority = 'GpMZbSM2GgvTKHJirzeGfMFoaZ8UR2X7F4v8vHTvxFbL' as Address

/** First 8 bytes of sha256("global:swap_base_input"). */
export const swapBaseInput = Buffer.from('8fbe5adac41e33de', 'hex')
/** First 8 bytes of sha256("account:PoolState") and sha256("account:AmmConfig"). */
export const poolStateMark = Buffer.from('f7ede3f5d7c3de46', 'hex')
export const ammConfigMark = Buffer.from('daf42168cbcb2b6f', 'hex')

/** Offsets in the account of a pool. */
export const poolStateAt = {
  config: 8,
  vaults: [72, 104],
  mints: [168, 200],
  programs: [232, 264],
  observation: 296,
  protocolFees: [341, 349],
  fundFees: [357, 365],
  recentEpoch: 381,
} as const
export const poolStateBytes = 637

/* Errors of Anchor and of the program. */
const unknownInstruction = 101
const constraintHasOne = 2001
const constraintAddress = 2012
const notEnoughAccounts = 3005
const wrongOwner = 3007
const notSigner = 3010
const notInitialized = 3012
const invalidVault = 6008
/** The runtime's ProgramFailedToComplete has no code of the program; a panic of the maths is reported as this. */
const panicked = 0xffff_ffff

/** swap_base_input. The observation account is not updated: no swap reads it. */
export const raydiumCpmmProgram: DexProgram = { address: raydiumCpmm, execute }

function execute(
  instruction: DexInstruction,
  read: ReadAccount,
  clock: { unixTime: bigint; epoch: bigint },
): DexOutcome {
  const data = Buffer.from(instruction.data)
  if (!data.subarray(0, 8).equals(swapBaseInput) || data.length !== 24) return { error: unknownInstruction }
  const [payer, authority, config, poolAddress, source, target, vaultIn, vaultOut, ...rest] = instruction.accounts
  const [programIn, programOut, mintIn, mintOut, observation] = rest
  if (!payer || !config || !poolAddress || !source || !target || !vaultIn || !vaultOut || !observation)
    return { error: notEnoughAccounts }
  if (!instruction.signers.has(payer)) return { error: notSigner }
  if (!programIn || !programOut || !mintIn || !mintOut || authority !== raydiumCpmmAuthority)
    return { error: constraintAddress }
  const [poolAccount, configAccount] = [read(poolAddress), read(config)]
  if (!poolAccount.exists || !configAccount.exists) return { error: notInitialized }
  if (poolAccount.programAddress !== raydiumCpmm || configAccount.programAddress !== raydiumCpmm)
    return { error: wrongOwner }
  const pool = Buffer.from(poolAccount.data)
  const addressAt = (offset: number) => getAddressDecoder().decode(pool, offset)
  if (addressAt(poolStateAt.config) !== config || addressAt(poolStateAt.observation) !== observation)
    return { error: constraintHasOne }
  const inputIndex = addressAt(poolStateAt.vaults[0]) === vaultIn ? 0 : 1
  const outputIndex = inputIndex === 0 ? 1 : 0
  if (addressAt(poolStateAt.vaults[inputIndex]) !== vaultIn || addressAt(poolStateAt.vaults[outputIndex]) !== vaultOut)
    return { error: invalidVault }
  const isOf = (mint: Address, program: Address, index: 0 | 1) =>
    addressAt(poolStateAt.mints[index]) === mint && addressAt(poolStateAt.programs[index]) === program
  if (!isOf(mintIn, programIn, inputIndex) || !isOf(mintOut, programOut, outputIndex))
    return { error: constraintAddress }
  const vaults = [read(addressAt(poolStateAt.vaults[0])), read(addressAt(poolStateAt.vaults[1]))].map(
    (account) => readTokenAccount(account)?.amount ?? 0n,
  ) as [bigint, bigint]
  const mints = [read(addressAt(poolStateAt.mints[0])), read(addressAt(poolStateAt.mints[1]))]
  const [first, second] = mints.map((mint) => (mint.exists ? readTransferFeeConfig(mint.data, clock.epoch) : null))
  const state = decodeRaydiumCpmmPool(pool, decodeRaydiumCpmmConfig(Buffer.from(configAccount.data)), vaults, [
    first ?? null,
    second ?? null,
  ])
  const amount = data.readBigUInt64LE(8)
  const swap = { isExactInput: true, inputIndex, amount, limit: data.readBigUInt64LE(16), ...clock } as const
  const result = swapRaydiumCpmm(state, swap)
  if (result.error !== null) return { error: typeof result.error === 'number' ? result.error : panicked }
  const { next } = result
  const units = state.vaults[outputIndex] - next.vaults[outputIndex]
  const changed = Buffer.from(pool)
  for (const index of [0, 1] as const) {
    changed.writeBigUInt64LE(next.protocolFees[index], poolStateAt.protocolFees[index])
    changed.writeBigUInt64LE(next.fundFees[index], poolStateAt.fundFees[index])
  }
  changed.writeBigUInt64LE(next.recentEpoch, poolStateAt.recentEpoch)
  return {
    error: null,
    transfers: [
      { tokenProgram: programIn, source, mint: mintIn, destination: vaultIn, authority: payer, units: amount },
      { tokenProgram: programOut, source: vaultOut, mint: mintOut, destination: target, authority, units },
    ],
    writes: new Map([[poolAddress, new Uint8Array(changed)]]),
  }
}
