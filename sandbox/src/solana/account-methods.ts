import type { Address, EncodedAccount } from '@solana/kit'
import { createAccountEncoder, readFilters } from './account-form.ts'
import type { Bank, Block } from './bank.ts'
import { type RpcMethod, withContext } from './chain-methods.ts'
import { invalidParams } from './rpc-error.ts'
import { type Options, readAddress, readBlock, readOptions } from './rpc-params.ts'
import {
  type MintState,
  readMint,
  readTokenAccount,
  toExisting,
  token2022Program,
  tokenProgram,
  toUiAmount,
} from './token-state.ts'

const accountsMax = 100

const encoderOf = (bank: Bank, block: Block, options: Options) =>
  createAccountEncoder(options, (address) => bank.readAccount(address, block))

function requireMint(bank: Bank, block: Block, address: Address): MintState {
  const account = bank.readAccount(address, block)
  if (!account.exists) throw invalidParams('Invalid param: could not find account')
  const mint = readMint(account)
  if (mint === null) throw invalidParams('Invalid param: not a Token mint')
  return mint
}

export const accountMethods: Readonly<Record<string, RpcMethod>> = {
  getAccountInfo(bank, [address, given]) {
    const key = readAddress(address)
    const options = readOptions(given)
    const block = readBlock(bank, options)
    const encode = encoderOf(bank, block, options)
    const account = bank.readAccount(key, block)
    return withContext(block, account.exists ? encode(account) : null)
  },
  getMultipleAccounts(bank, [addresses, given]) {
    if (!Array.isArray(addresses)) throw invalidParams('Invalid params: expected a sequence.')
    if (addresses.length > accountsMax) throw invalidParams(`Too many inputs provided; max ${accountsMax}`)
    const keys = addresses.map(readAddress)
    const options = { encoding: 'base64', ...readOptions(given) }
    const block = readBlock(bank, options)
    const encode = encoderOf(bank, block, options)
    const accounts = keys.map((key) => bank.readAccount(key, block))
    return withContext(
      block,
      accounts.map((account) => (account.exists ? encode(account) : null)),
    )
  },
  getProgramAccounts(bank, [program, given]) {
    const key = readAddress(program)
    const options = readOptions(given)
    const block = readBlock(bank, options)
    const encode = encoderOf(bank, block, options)
    const accounts = bank.readProgramAccounts(key, block).filter(readFilters(options))
    const list = accounts.map((account) => ({ pubkey: account.address, account: encode(account) }))
    return options['withContext'] === true ? withContext(block, list) : list
  },
  getBalance(bank, [address, given]) {
    const key = readAddress(address)
    const block = readBlock(bank, readOptions(given))
    const account = bank.readAccount(key, block)
    return withContext(block, account.exists ? account.lamports : 0)
  },
  getTokenAccountBalance(bank, [address, given]) {
    const key = readAddress(address)
    const block = readBlock(bank, readOptions(given))
    const account = bank.readAccount(key, block)
    if (!account.exists) throw invalidParams('Invalid param: could not find account')
    const state = readTokenAccount(account)
    if (state === null) throw invalidParams('Invalid param: not a Token account')
    return withContext(block, toUiAmount(state.amount, requireMint(bank, block, state.mint).decimals))
  },
  getTokenSupply(bank, [address, given]) {
    const key = readAddress(address)
    const block = readBlock(bank, readOptions(given))
    const mint = requireMint(bank, block, key)
    return withContext(block, toUiAmount(mint.supply, mint.decimals))
  },
  getTokenAccountsByOwner(bank, [owner, filter, given]) {
    const key = readAddress(owner)
    const { mint, programId } = readOptions(filter)
    const options = readOptions(given)
    const block = readBlock(bank, options)
    const encode = encoderOf(bank, block, options)
    const list = tokenAccounts(bank, block, mint, programId).flatMap((account) => {
      const state = readTokenAccount(toExisting(account))
      const isListed = state?.owner === key && (typeof mint !== 'string' || state.mint === mint)
      return isListed ? [{ pubkey: account.address, account: encode(account) }] : []
    })
    return withContext(block, list)
  },
}

function tokenAccounts(bank: Bank, block: Block, mint: unknown, programId: unknown): EncodedAccount[] {
  if (mint !== undefined) {
    const account = bank.readAccount(readAddress(mint), block)
    if (!account.exists) throw invalidParams('Invalid param: could not find mint')
    if (readMint(account) === null) throw invalidParams('Invalid param: not a Token mint')
    return bank.readProgramAccounts(account.programAddress, block)
  }
  const program = readAddress(programId)
  if (program !== tokenProgram && program !== token2022Program)
    throw invalidParams('Invalid param: unrecognized Token program id')
  return bank.readProgramAccounts(program, block)
}
