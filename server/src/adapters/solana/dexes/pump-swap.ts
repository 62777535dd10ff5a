import { base58 } from '@scure/base'
import { decodePumpSwapPool } from '@swapyard/lib/pools/solana/pump-swap.ts'
import { decodePumpSwapConfig } from '@swapyard/lib/pools/solana/pump-swap-accounts.ts'
import type { PumpSwapRoutePool } from '../../../swap/routing/pools/solana/pump-swap.ts'
import { readonly, writable } from '../instructions.ts'
import { associatedToken, associatedTokenProgram, deriveOnce, systemProgram, wrappedSol } from '../program-address.ts'
import { addressAt, decodeAmounts, encodeCall, markFilter, type PoolReading, type SolanaDex } from './solana-dex.ts'

const program = 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'
const globalConfig = 'ADyA8hdefvWN2dbGGWFotbzWxrAvLW83WG6QCVXvJKqw'
const feeProgram = 'pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ'
const feeConfig = '5PHirr8joyTMp9JMm6nW7hNDVyEYdkzDqazxPD7RaTjx'
/** The program's addresses for the seeds `__event_authority` and `global_volume_accumulator`. */
const eventAuthority = 'GS4CU59F31iL7aR2Q8zVS8DRrcRnXX1yjQ66TqNVQnaR'
const globalVolume = 'C2aFPdENg4A2HQsmrd5rTw5TaYBX5Ku887cWjbFKtZpw'

/** First 8 bytes of sha256("account:Pool"), sha256("global:sell") and sha256("global:buy_exact_quote_in"). */
const POOL = Buffer.from('f19a6d0411b16dbc', 'hex')
const SELL = Buffer.from('33e685a4017f83ad', 'hex')
const BUY = Buffer.from('c62e1552b4d9e870', 'hex')
/** A purchase is not counted as volume of its trader. */
const NO_TRACKING = Buffer.from([0])
const SELL_BYTES = 24
const BUY_BYTES = 25

/* Offsets in the account of a pool, and in the global config. */
const BASE_MINT = 43
const QUOTE_MINT = 75
const COIN_CREATOR = 211
const MAYHEM_MODE = 243
const CASHBACK_COIN = 244
const POOL_END = 245
const FEE_RECIPIENT = 57
const BUYBACK_RECIPIENT = 643
/** Offset in a mint. */
const SUPPLY = 36

/** No coin creator: 32 zero bytes. */
const NO_CREATOR = systemProgram

/** The maths knows no fees of cashback coins, Mayhem pools and mints with transfer fees, and no members after those of June 2026. */
const isKnown = ({ data, transferFees }: PoolReading): boolean =>
  (data[MAYHEM_MODE] ?? 0) === 0 &&
  (data[CASHBACK_COIN] ?? 0) === 0 &&
  data.subarray(POOL_END).every((byte) => byte === 0) &&
  transferFees.every((fee) => fee === null)

function read(reading: PoolReading): PumpSwapRoutePool | null {
  const { identity, data, balances, account } = reading
  const [settings, fees, mint] = [account(globalConfig), account(feeConfig), account(addressAt(data, BASE_MINT))]
  if (settings === null || fees === null || mint === null || !isKnown(reading)) return null
  const config = decodePumpSwapConfig(settings, fees)
  if (config === null) return null
  const [baseReserve, quoteReserve] = balances
  const state = decodePumpSwapPool(data, config, {
    baseReserve,
    quoteReserve,
    baseSupply: mint.readBigUInt64LE(SUPPLY),
  })
  // The fee config has other fees for the pump program's pools with other quote tokens.
  if (state.isCanonical && addressAt(data, QUOTE_MINT) !== wrappedSol) return null
  return {
    ...identity,
    ...{ kind: 'pump-swap', state, reserves: balances },
    feeRecipient: addressAt(settings, FEE_RECIPIENT),
    buybackRecipient: addressAt(settings, BUYBACK_RECIPIENT),
    coinCreator: data.length < MAYHEM_MODE ? NO_CREATOR : addressAt(data, COIN_CREATOR),
  }
}

export const pumpSwapDex: SolanaDex<PumpSwapRoutePool> = {
  kind: 'pump-swap',
  program,
  title: 'PumpSwap',
  filters: [markFilter(POOL)],
  mintsAt: [BASE_MINT, QUOTE_MINT],
  vaultsAt: [139, 171],
  accountsOf: (_, data) => [globalConfig, feeConfig, addressAt(data, BASE_MINT)],
  read,
  swap(pool, { owner, source, target, tokenIn, amountIn, minOut }) {
    const isSale = tokenIn === 0
    const [base = '', quote = ''] = pool.tokens
    const quoteAccountOf = (account: string) => associatedToken(account, quote, pool.programs[1])
    const creatorVault = deriveOnce(program, [Buffer.from('creator_vault'), base58.decode(pool.coinCreator)])
    const userVolume = deriveOnce(program, [Buffer.from('user_volume_accumulator'), base58.decode(owner)])
    const poolV2 = deriveOnce(program, [Buffer.from('pool-v2'), base58.decode(base)])
    const [userBase, userQuote] = isSale ? [source, target] : [target, source]
    // The program refuses a minimum of 0 of a purchase.
    const least = minOut > 0n || isSale ? minOut : 1n
    return {
      program,
      accounts: [
        ...[writable(pool.address), { address: owner, isSigner: true, isWritable: true }, readonly(globalConfig)],
        ...[readonly(base), readonly(quote), writable(userBase), writable(userQuote)],
        ...[writable(pool.vaults[0]), writable(pool.vaults[1])],
        ...[readonly(pool.feeRecipient), writable(quoteAccountOf(pool.feeRecipient))],
        ...[readonly(pool.programs[0]), readonly(pool.programs[1]), readonly(systemProgram)],
        ...[readonly(associatedTokenProgram), readonly(eventAuthority), readonly(program)],
        ...[writable(quoteAccountOf(creatorVault)), readonly(creatorVault)],
        ...(isSale ? [] : [readonly(globalVolume), writable(userVolume)]),
        ...[readonly(feeConfig), readonly(feeProgram)],
        ...(pool.state.hasCoinCreator ? [readonly(poolV2)] : []),
        ...[readonly(pool.buybackRecipient), writable(quoteAccountOf(pool.buybackRecipient))],
      ],
      data: isSale ? encodeCall(SELL, [amountIn, least]) : encodeCall(BUY, [amountIn, least], NO_TRACKING),
    }
  },
  readSwap(instruction) {
    const sale = decodeAmounts(instruction, SELL, SELL_BYTES)
    const amounts = sale ?? decodeAmounts(instruction, BUY, BUY_BYTES)
    const at = (index: number) => instruction.accounts[index]?.address ?? ''
    const [source, target] = sale === null ? [at(6), at(5)] : [at(5), at(6)]
    return amounts && { pool: at(0), source, target, ...amounts }
  },
  errors: { 6020: 'the program has disabled purchases', 6021: 'the program has disabled sales' },
  belowMinimum: [6004, 6040],
}
