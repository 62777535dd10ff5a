import { findMintRefusal } from '@swapyard/lib/pools/solana/mint-extensions.ts'
import type {
  AggregatorInstruction,
  AggregatorTrade,
  AggregatorTransaction,
  GuardedAccount,
  InstructionsTransaction,
  TakerOrder,
} from '../../swap/ports/aggregator.ts'
import { isControlledBy, isOnlyOf, tokenPrograms } from './account-rights.ts'
import { closedAccount } from './aggregator-swap.ts'
import { readLookupTables } from './lookup-tables.ts'
import { ACCOUNTS_MAX, readAccounts, type SolanaNodes, tokenUnits } from './nodes.ts'
import { associatedToken, associatedTokenProgram, readAddress, systemProgram } from './program-address.ts'

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
/** More would not fit into a transaction. */
const DATA_BYTES_MAX = 1_000
const TABLES_MAX = 16
const OTHERS_MAX = 4

/**
 * Checks the instructions of an aggregator: one of a published program that only the user signs, and that names no account over which the
 * user's signature has power but those of the trade. What it does with those is bounded by `aggregatorInstructions`. Null if it fails.
 */
export async function readAggregatorCall(
  nodes: SolanaNodes,
  transaction: AggregatorTransaction,
  order: TakerOrder,
  programs: readonly string[],
): Promise<AggregatorTrade | null> {
  if (!('setup' in transaction)) return null
  const { amountOut, swap, tables } = transaction
  const { taker, tokenIn, tokenOut } = order
  if (!programs.includes(swap.program) || !isWellFormed(swap, taker) || tables.length > TABLES_MAX) return null
  if (!tables.every((one) => readAddress(one) !== null)) return null
  const between = readSetup(transaction, taker)
  if (between === null) return null
  const mints = [...new Set([tokenIn, tokenOut, ...between])]
  const known = await readMints(nodes, mints)
  if (known === null) return null
  const bases = known.map(({ mint, program, decimals }) => ({
    ...{ mint, program, decimals, address: associatedToken(taker, mint, program) },
  }))
  const read = await readGuarded(nodes, swap, taker, bases)
  if (read === null) return null
  const { guarded, lamportsOf } = read
  const [source, target] = [tokenIn, tokenOut].map((token) => guarded.find(({ mint }) => mint === token))
  if (source === undefined || target === undefined) return null
  const closed = closedAccount(order, { source, target })
  const lamports = lamportsOf(taker) + (closed === null ? 0n : lamportsOf(closed.address))
  const others = guarded.filter((one) => one !== source && one !== target)
  const final = await readLookupTables(nodes, [...new Set(tables)])
  return { amountOut, call: { amountOut, instruction: swap, source, target, others, lamports, tables: final } }
}

/** Readable accounts and data, and the taker is the only signer. */
function isWellFormed({ accounts, data }: AggregatorInstruction, taker: string): boolean {
  if (!BASE64.test(data) || data.length > Math.ceil(DATA_BYTES_MAX / 3) * 4) return false
  if (Buffer.from(data, 'base64').toString('base64') !== data) return false
  const signers = accounts.filter(({ isSigner }) => isSigner)
  return (
    accounts.every(({ address }) => readAddress(address) !== null) &&
    signers.length > 0 &&
    signers.every(({ address }) => address === taker)
  )
}

/** The mints of the token accounts that the setup creates for the user; null if it does anything else. */
function readSetup({ setup }: InstructionsTransaction, taker: string): readonly string[] | null {
  const mints = setup.map(({ program, accounts, data }) => {
    const [payer, account, owner, mint, system, token] = accounts.map(({ address }) => address)
    const isCreation = program === associatedTokenProgram && data === 'AQ==' && accounts.length === 6
    const isOwn = payer === taker && owner === taker && system === systemProgram
    if (!isCreation || !isOwn || mint === undefined || token === undefined || !tokenPrograms.has(token)) return null
    return readAddress(mint) !== null && account === associatedToken(taker, mint, token) ? mint : null
  })
  const own = mints.filter((mint) => mint !== null)
  return own.length === mints.length && new Set(own).size <= OTHERS_MAX ? own : null
}

const DECIMALS_OFFSET = 44
const MINT_BYTES = 82

/** Null if an address has no mint that we trade. */
async function readMints(nodes: SolanaNodes, mints: readonly string[]) {
  const { accounts } = await readAccounts(nodes, mints)
  const known = mints.map((mint, index) => {
    const { owner, data } = accounts[index] ?? {}
    if (owner === undefined || data === undefined || !tokenPrograms.has(owner) || data.length < MINT_BYTES) return null
    return findMintRefusal(data) === null ? { mint, program: owner, decimals: data[DECIMALS_OFFSET] ?? 0 } : null
  })
  return known.every((one) => one !== null) ? known : null
}

type Base = Omit<GuardedAccount, 'held'>

/**
 * The user's accounts of the trade; null if the instruction names other accounts over which the user's signature has power, or if others
 * have rights to those of the trade: the swap takes the rights of delegates back.
 */
async function readGuarded(
  nodes: SolanaNodes,
  { accounts: named }: AggregatorInstruction,
  taker: string,
  bases: readonly Base[],
): Promise<Readonly<{ guarded: readonly GuardedAccount[]; lamportsOf(address: string): bigint }> | null> {
  const own = new Set(bases.map(({ address }) => address))
  const addresses = [...new Set([taker, ...own, ...named.map(({ address }) => address)])]
  if (addresses.length > ACCOUNTS_MAX) return null
  const { accounts } = await readAccounts(nodes, addresses)
  const found = new Map(addresses.map((address, index) => [address, accounts[index] ?? null]))
  const isFaulty = [...found].some(
    ([address, account]) =>
      account !== null && (own.has(address) ? !isOnlyOf(taker, account) : isControlledBy(taker, account)),
  )
  if (isFaulty) return null
  const guarded = bases.map((base) => {
    const account = found.get(base.address) ?? null
    return { ...base, held: account === null ? null : tokenUnits(account) }
  })
  return { guarded, lamportsOf: (address) => found.get(address)?.lamports ?? 0n }
}
