import type { Address, MaybeEncodedAccount } from '@solana/kit'
import { findAssociatedTokenPda } from '@solana-program/token'
import { decodePumpSwapPool, type PumpSwapTrade, tradePumpSwap } from '@swapyard/lib/pools/solana/pump-swap.ts'
import { decodePumpSwapConfig } from '@swapyard/lib/pools/solana/pump-swap-accounts.ts'
import { tokenAccount, vaultAccounts } from '../genesis-accounts.ts'
import { readMint } from '../token-state.ts'
import {
  ANCHOR,
  addressAt,
  type DexInstruction,
  type DexOutcome,
  type DexProgram,
  ownerOf,
  type Pair,
  type ReadAccount,
  readOwned,
  unitsOf,
} from './dex-program.ts'
import {
  accountAt,
  addressOf,
  bytesOf,
  derive,
  encodeCall,
  type MarketPool,
  type Mint,
  meta,
  type PoolPlan,
  put,
} from './market-pool.ts'

const program = 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA' as Address
const feeProgram = 'pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ' as Address
const globalConfig = 'ADyA8hdefvWN2dbGGWFotbzWxrAvLW83WG6QCVXvJKqw' as Address
const feeConfig = '5PHirr8joyTMp9JMm6nW7hNDVyEYdkzDqazxPD7RaTjx' as Address
const eventAuthority = 'GS4CU59F31iL7aR2Q8zVS8DRrcRnXX1yjQ66TqNVQnaR' as Address
const globalVolume = 'C2aFPdENg4A2HQsmrd5rTw5TaYBX5Ku887cWjbFKtZpw' as Address
const systemProgram = '11111111111111111111111111111111' as Address
const associatedTokenProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address

/** First 8 bytes of sha256("global:sell"), sha256("global:buy_exact_quote_in") and sha256("account:Pool"). */
const sell = Buffer.from('33e685a4017f83ad', 'hex')
const buy = Buffer.from('c62e1552b4d9e870', 'hex')
const poolMark = Buffer.from('f19a6d0411b16dbc', 'hex')
const feeConfigMark = Buffer.from('8f3492bbdb7b4c9b', 'hex')

/** Offsets in the account of a pool, and in the global config. */
const at = { creator: 11, mints: [43, 75], vaults: [139, 171], coinCreator: 211, recipient: 57, buyback: 643 } as const
const poolBytes = 245
/** Accounts before the fee config, which a purchase has two more of. */
const sellAccounts = 19
const buyAccounts = 21

export const pumpSwap: DexProgram = {
  address: program,
  title: 'sell and buy_exact_quote_in of PumpSwap',
  execute,
}

function readTrade(data: Buffer): PumpSwapTrade | null {
  const isSale = data.subarray(0, 8).equals(sell) && data.length === 24
  if (!isSale && !(data.subarray(0, 8).equals(buy) && data.length === 25)) return null
  const [amount, least] = [data.readBigUInt64LE(8), data.readBigUInt64LE(16)]
  return isSale
    ? { kind: 'sell', baseIn: amount, quoteOutMin: least }
    : { kind: 'buyExactQuoteIn', quoteIn: amount, baseOutMin: least }
}

function execute({ accounts, data, signers }: DexInstruction, read: ReadAccount): DexOutcome {
  const trade = readTrade(Buffer.from(data))
  if (trade === null) return { error: ANCHOR.unknownInstruction }
  const [poolAddress, user, config, base, quote, userBase, userQuote, poolBase, poolQuote, ...rest] = accounts
  const [recipient, recipientQuote, baseProgram, quoteProgram, , , authority, self, creatorQuote] = rest
  const further = accounts.slice(trade.kind === 'sell' ? sellAccounts : buyAccounts)
  const pool = readOwned(read, poolAddress, program)
  const settings = readOwned(read, config, program)
  const fees = readOwned(read, further[0], feeProgram)
  const buybackQuote = further.at(-1)
  if (!poolAddress || !user || !base || !quote || !userBase || !userQuote || !poolBase || !poolQuote || !buybackQuote)
    return { error: ANCHOR.notEnoughAccounts }
  if (!baseProgram || !quoteProgram || !recipientQuote || !creatorQuote) return { error: ANCHOR.notEnoughAccounts }
  if (!signers.has(user)) return { error: ANCHOR.notSigner }
  if (pool === null || settings === null || fees === null) return { error: ANCHOR.wrongOwner }
  const isOf = (content: Buffer, offset: number, address: Address | undefined) => addressAt(content, offset) === address
  const isPool =
    isOf(pool, at.mints[0], base) &&
    isOf(pool, at.mints[1], quote) &&
    isOf(pool, at.vaults[0], poolBase) &&
    isOf(pool, at.vaults[1], poolQuote)
  if (!isPool) return { error: ANCHOR.constraintHasOne }
  const isKnown = config === globalConfig && authority === eventAuthority && self === program
  const isPaid = isOf(settings, at.recipient, recipient) && isOf(settings, at.buyback, further.at(-2))
  if (!isKnown || !isPaid || ownerOf(read, base) !== baseProgram || ownerOf(read, quote) !== quoteProgram)
    return { error: ANCHOR.constraintAddress }
  const rates = decodePumpSwapConfig(settings, fees)
  if (rates === null) return { error: ANCHOR.notInitialized }
  const state = decodePumpSwapPool(pool, rates, {
    ...{ baseReserve: unitsOf(read, poolBase), quoteReserve: unitsOf(read, poolQuote) },
    baseSupply: readMint(read(base))?.supply ?? 0n,
  })
  const result = tradePumpSwap(state, trade)
  if (result.error !== null) return { error: result.error }
  const { payouts } = result
  const ofBase = { tokenProgram: baseProgram, mint: base }
  const ofQuote = { tokenProgram: quoteProgram, mint: quote }
  const isSale = trade.kind === 'sell'
  const payer = isSale ? { source: poolQuote, authority: poolAddress } : { source: userQuote, authority: user }
  const quoteIn = result.next.quoteReserve - state.quoteReserve
  const main = isSale
    ? [
        { ...ofBase, source: userBase, destination: poolBase, authority: user, units: result.paid },
        { ...ofQuote, source: poolQuote, destination: userQuote, authority: poolAddress, units: result.received },
      ]
    : [
        { ...ofQuote, source: userQuote, destination: poolQuote, authority: user, units: quoteIn },
        { ...ofBase, source: poolBase, destination: userBase, authority: poolAddress, units: result.received },
      ]
  const paid = [
    { ...ofQuote, ...payer, destination: recipientQuote, units: payouts.protocol },
    { ...ofQuote, ...payer, destination: buybackQuote, units: payouts.buyback },
    { ...ofQuote, ...payer, destination: creatorQuote, units: payouts.coinCreator },
  ]
  return { error: null, transfers: [...main, ...paid.filter(({ units }) => units > 0n)], writes: new Map() }
}

const recipients = { protocol: addressOf('pump-swap fee recipient'), buyback: addressOf('pump-swap buyback recipient') }

/** The global config, and a fee config with flat fees of 0.25 % and 0.05 % and two tiers. Rates are basis points. */
function configAccounts(): readonly MaybeEncodedAccount[] {
  const settings = Buffer.alloc(907)
  put(settings, recipients.protocol, at.recipient)
  put(settings, recipients.buyback, at.buyback)
  settings.writeBigUInt64LE(5_000n, 899)
  const tiers = [
    [0n, 2n, 93n, 30n],
    [420_000_000_000n, 20n, 5n, 30n],
  ] as const
  const fees = Buffer.alloc(69 + 40 * tiers.length)
  fees.set(feeConfigMark)
  fees.writeBigUInt64LE(25n, 41)
  fees.writeBigUInt64LE(5n, 49)
  fees.writeUInt32LE(tiers.length, 65)
  for (const [index, [threshold, ...rates]] of tiers.entries()) {
    fees.writeBigUInt64LE(threshold, 69 + 40 * index)
    for (const [place, rate] of rates.entries()) fees.writeBigUInt64LE(rate, 69 + 40 * index + 16 + 8 * place)
  }
  return [accountAt(globalConfig, program, settings), accountAt(feeConfig, feeProgram, fees)]
}

const quoteAccountOf = async (owner: Address, { address, program: tokenProgram }: Mint): Promise<Address> =>
  (await findAssociatedTokenPda({ mint: address, owner, tokenProgram }))[0]

const pumpProgram = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P' as Address

/** A pool as the pump program creates it, of a coin whose creator gets fees. The second token of the plan is the quote token. */
export async function createPumpPool({ name, tickers, mints, reserves }: PoolPlan): Promise<MarketPool> {
  const [base, quote] = mints
  const [address, coinCreator] = [addressOf(name), addressOf(`${name} coin creator`)]
  const vaults: Pair<Address> = [addressOf(`${name} vault 0`), addressOf(`${name} vault 1`)]
  const creatorVault = await derive(program, 'creator_vault', bytesOf(coinCreator))
  const poolV2 = await derive(program, 'pool-v2', bytesOf(base.address))
  const owners = [recipients.protocol, recipients.buyback, creatorVault] as const
  const [protocolQuote, buybackQuote, creatorQuote] = await Promise.all(owners.map((one) => quoteAccountOf(one, quote)))
  if (!protocolQuote || !buybackQuote || !creatorQuote) throw new Error('an owner has no account')
  const data = Buffer.alloc(poolBytes)
  data.set(poolMark)
  put(data, await derive(pumpProgram, 'pool-authority', bytesOf(base.address)), at.creator)
  put(data, coinCreator, at.coinCreator)
  for (const index of [0, 1] as const) {
    put(data, mints[index].address, at.mints[index])
    put(data, vaults[index], at.vaults[index])
  }
  const paid = [protocolQuote, buybackQuote, creatorQuote]
  return {
    ...{ program: pumpSwap, address, tickers, mints, vaults, tolerancePpm: 12_500 },
    genesis: [
      ...configAccounts(),
      accountAt(address, program, data),
      ...vaultAccounts(vaults, mints, address, reserves),
      ...paid.map((account, index) => tokenAccount(account, quote, owners[index] ?? address, 0n)),
    ],
    readPrice: (read) => Number(unitsOf(read, vaults[1])) / Number(unitsOf(read, vaults[0])),
    swap(_, { owner, source, target, inputIndex, units }) {
      const isSale = inputIndex === 0
      const [userBase, userQuote] = isSale ? [source, target] : [target, source]
      return {
        programAddress: program,
        accounts: [
          ...[meta(address, 'w'), meta(owner, 'sw'), meta(globalConfig, 'r'), meta(base.address, 'r')],
          ...[meta(quote.address, 'r'), meta(userBase, 'w'), meta(userQuote, 'w'), meta(vaults[0], 'w')],
          ...[meta(vaults[1], 'w'), meta(recipients.protocol, 'r'), meta(protocolQuote, 'w'), meta(base.program, 'r')],
          ...[meta(quote.program, 'r'), meta(systemProgram, 'r'), meta(associatedTokenProgram, 'r')],
          ...[meta(eventAuthority, 'r'), meta(program, 'r'), meta(creatorQuote, 'w'), meta(creatorVault, 'r')],
          // The volume of the sandbox's trader is not counted, so its own account stands for its accumulator.
          ...(isSale ? [] : [meta(globalVolume, 'r'), meta(owner, 'w')]),
          ...[meta(feeConfig, 'r'), meta(feeProgram, 'r'), meta(poolV2, 'r')],
          ...[meta(recipients.buyback, 'r'), meta(buybackQuote, 'w')],
        ],
        data: isSale ? encodeCall(sell, [units, 0n]) : encodeCall(buy, [units, 1n], Buffer.from([0])),
      }
    },
  }
}
