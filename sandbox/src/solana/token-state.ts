import { type Address, type EncodedAccount, getAddressDecoder, type MaybeEncodedAccount } from '@solana/kit'
import { formatUnits } from '../amount.ts'

export const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address
export const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as Address

/** kit reads accounts as read-only bytes in one type and as plain bytes in the other. */
export const toExisting = (account: EncodedAccount): MaybeEncodedAccount => ({
  ...account,
  exists: true,
  data: account.data as Uint8Array,
})

const mintBytes = 82
const accountBytes = 165

export type MintState = Readonly<{
  supply: bigint
  decimals: number
  authority: Address | null
  freeze: Address | null
}>
export type TokenState = Readonly<{
  mint: Address
  owner: Address
  amount: bigint
  delegate: Address | null
  delegatedAmount: bigint
  isFrozen: boolean
  nativeReserve: bigint | null
  closeAuthority: Address | null
}>

const isToken = (account: EncodedAccount) =>
  account.programAddress === tokenProgram || account.programAddress === token2022Program

/** With extensions, byte 165 tells a mint (1) from a token account (2). */
const hasType = (account: EncodedAccount, plainBytes: number, type: number) =>
  account.data.length === plainBytes ||
  (account.programAddress === token2022Program && account.data.length > accountBytes && account.data[165] === type)

const viewOf = ({ data }: EncodedAccount) => new DataView(data.buffer, data.byteOffset, data.byteLength)

const readOption = (account: EncodedAccount, offset: number): Address | null =>
  viewOf(account).getUint32(offset, true) === 0 ? null : getAddressDecoder().decode(account.data, offset + 4)

export function readMint(account: MaybeEncodedAccount): MintState | null {
  if (!account.exists || !isToken(account) || !hasType(account, mintBytes, 1) || account.data[45] !== 1) return null
  return {
    authority: readOption(account, 0),
    supply: viewOf(account).getBigUint64(36, true),
    decimals: account.data[44] ?? 0,
    freeze: readOption(account, 46),
  }
}

export function readTokenAccount(account: MaybeEncodedAccount): TokenState | null {
  if (!account.exists || !isToken(account) || !hasType(account, accountBytes, 2) || account.data[108] === 0) return null
  const view = viewOf(account)
  return {
    mint: getAddressDecoder().decode(account.data, 0),
    owner: getAddressDecoder().decode(account.data, 32),
    amount: view.getBigUint64(64, true),
    delegate: readOption(account, 72),
    isFrozen: account.data[108] === 2,
    nativeReserve: view.getUint32(109, true) === 0 ? null : view.getBigUint64(113, true),
    delegatedAmount: view.getBigUint64(121, true),
    closeAuthority: readOption(account, 129),
  }
}

export function toUiAmount(amount: bigint, decimals: number) {
  const uiAmountString = formatUnits(amount, decimals)
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString }
}
