import { type EncodedAccount, getBase58Encoder, type MaybeEncodedAccount } from '@solana/kit'
import { invalidParams, SolanaRpcError } from './rpc-error.ts'
import { type AccountEncoding, type Options, readAccountEncoding, readSlice, toBase58 } from './rpc-params.ts'
import { readMint, readTokenAccount, toExisting, tokenProgram, toUiAmount } from './token-state.ts'

/** rentEpoch of accounts that are exempt from rent. */
const rentExemptMark = 18_446_744_073_709_551_615n
const base58BytesMax = 128

type ReadAccount = (address: EncodedAccount['address']) => MaybeEncodedAccount

/** Encodes accounts as the call's options ask. */
export function createAccountEncoder(options: Options, readAccount: ReadAccount) {
  const encoding = readAccountEncoding(options)
  const slice = readSlice(options)
  return (account: EncodedAccount) => ({
    data: encodeData(account, encoding, slice, readAccount),
    executable: account.executable,
    lamports: account.lamports,
    owner: account.programAddress,
    rentEpoch: rentExemptMark,
    space: account.data.length,
  })
}

function encodeData(
  account: EncodedAccount,
  encoding: AccountEncoding,
  slice: ReturnType<typeof readSlice>,
  readAccount: ReadAccount,
): unknown {
  const parsed = encoding === 'jsonParsed' ? parseToken(account, readAccount) : null
  if (parsed !== null) return parsed
  const data = slice === null ? account.data : account.data.subarray(slice.offset, slice.offset + slice.length)
  if (encoding !== 'base58') return [Buffer.from(data).toString('base64'), 'base64']
  if (data.length > base58BytesMax)
    throw new SolanaRpcError(
      -32600,
      `Encoded binary (base 58) data should be less than ${base58BytesMax} bytes, please use Base64 encoding.`,
    )
  return [toBase58(new Uint8Array(data)), 'base58']
}

function parseToken(account: EncodedAccount, readAccount: ReadAccount): unknown {
  const program = account.programAddress === tokenProgram ? 'spl-token' : 'spl-token-2022'
  const space = account.data.length
  const mint = readMint(toExisting(account))
  if (mint !== null) {
    const info = {
      decimals: mint.decimals,
      freezeAuthority: mint.freeze,
      isInitialized: true,
      mintAuthority: mint.authority,
      supply: mint.supply.toString(),
    }
    return { program, parsed: { info, type: 'mint' }, space }
  }
  const state = readTokenAccount(toExisting(account))
  if (state === null) return null
  const decimals = readMint(readAccount(state.mint))?.decimals
  if (decimals === undefined) return null
  const info = {
    isNative: state.nativeReserve !== null,
    mint: state.mint,
    owner: state.owner,
    state: state.isFrozen ? 'frozen' : 'initialized',
    tokenAmount: toUiAmount(state.amount, decimals),
    ...(state.nativeReserve === null ? {} : { rentExemptReserve: toUiAmount(state.nativeReserve, decimals) }),
    ...(state.delegate === null
      ? {}
      : { delegate: state.delegate, delegatedAmount: toUiAmount(state.delegatedAmount, decimals) }),
    ...(state.closeAuthority === null ? {} : { closeAuthority: state.closeAuthority }),
  }
  return { program, parsed: { info, type: 'account' }, space }
}

const filtersMax = 4

/** `memcmp` and `dataSize` filters of getProgramAccounts. */
export function readFilters(options: Options): (account: EncodedAccount) => boolean {
  const filters = options['filters'] ?? []
  if (!Array.isArray(filters)) throw invalidParams('Invalid params: invalid type: map, expected a sequence.')
  if (filters.length > filtersMax) throw invalidParams(`Too many filters provided; max ${filtersMax}`)
  const tests = filters.map(readFilter)
  return (account) => tests.every((test) => test(account))
}

function readFilter(filter: unknown): (account: EncodedAccount) => boolean {
  const { dataSize, memcmp, tokenAccountState } = (filter ?? {}) as Record<string, unknown>
  if (typeof dataSize === 'number') return ({ data }) => data.length === dataSize
  if (tokenAccountState !== undefined) return (account) => readTokenAccount(toExisting(account)) !== null
  const { offset, bytes, encoding = 'base58' } = (memcmp ?? {}) as Record<string, unknown>
  if (typeof offset !== 'number' || typeof bytes !== 'string')
    throw invalidParams('Invalid params: data did not match any variant of untagged enum RpcFilterType.')
  const expected = encoding === 'base64' ? Buffer.from(bytes, 'base64') : fromBase58(bytes)
  if (expected.length > 128) throw invalidParams('Invalid param: encoded binary data should be less than 128 bytes')
  return ({ data }) => Buffer.from(data.subarray(offset, offset + expected.length)).equals(expected)
}

function fromBase58(text: string): Buffer {
  try {
    return Buffer.from(getBase58Encoder().encode(text))
  } catch {
    throw invalidParams('Invalid param: invalid base58 data in a memcmp filter')
  }
}
