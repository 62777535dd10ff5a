import { pbkdf2Sync } from 'node:crypto'
import { HDKey, hdKeyToAccount } from 'viem/accounts'

/**
 * Public on purpose: every sandbox uses the same keys. Nothing signed with them is valid on a real chain, because the
 * sandbox has its own chain ids and uses regtest.
 */
export const sandboxMnemonic = 'patch recall hub make orbit explain chair magic column surprise antique total'

/** How many accounts anvil derives (`m/44'/60'/0'/0/…`) and funds. The first is the bank. */
export const evmAccounts = 10

/** BIP-39: the seed of a mnemonic without a passphrase. Node's PBKDF2 takes a hundredth of the time of a library in JavaScript. */
const root = HDKey.fromMasterSeed(pbkdf2Sync(sandboxMnemonic, 'mnemonic', 2048, 64, 'sha512'))
const bankAddress = hdKeyToAccount(root, { addressIndex: 0 }).address
const traderAddress = hdKeyToAccount(root, { addressIndex: evmAccounts - 1 }).address

export const evmBankAddress = (): `0x${string}` => bankAddress

/** The last account owns the contract that trades in the pools. */
export const evmTraderAddress = (): `0x${string}` => traderAddress

/** The bank's key on a network of the bitcoin family: BIP-84 with the test coin type, one account per network. */
export function bitcoinBankKey(network: 'btc' | 'ltc'): Uint8Array {
  const { privateKey } = root.derive(`m/84'/1'/${network === 'btc' ? 0 : 2}'/0/0`)
  if (privateKey === null) throw new Error('the mnemonic derived no private key')
  return privateKey
}

/** The bank's wallet on Monero regtest. Regtest uses mainnet's address prefixes: never send real coins to it. */
export const moneroBank = {
  address: '42DijGyGW4n7PfbEgTZYr8LCg6F3hipHSYpYe4TwrPqgED9bc8AdNWdiKPkfDV6osz9UQ3LWN36z6Yh2mVayqda2SanKQ96',
  viewKey: 'a1aa48f1ed2ac45679f3a50b04108f2f9b8455275a62fd5f480b1aee7e97e10b',
  spendKey: '67f366c8f27f731e7ea2b5187b0d92b1139a1bf6cde58c6d9823c0e474e1dd07',
} as const
