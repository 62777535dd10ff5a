import { hash } from 'node:crypto'
import { base58check, bech32, bech32m, hex } from '@scure/base'
import { Address, OutScript } from '@scure/btc-signer'
import { sha256 } from '@scure/btc-signer/utils.js'
import type { BitcoinParameters, Network } from '../../../core/domain/network.ts'
import type { Addresses } from '../../../exchange/ports/chain.ts'
import type { CompressedKeys } from '../../../exchange/ports/signer.ts'
import type { KeyPath } from '../../../exchange/ports/spend.ts'
import { present } from '../../../lib/assert.ts'
import { decodeCashAddr, encodeCashAddr } from './cash-addr.ts'

/** Longer than any address: the longest is bech32 of 32 bytes. */
const LENGTH_MAX = 100

export function createAddresses(network: Network, publicKeys: CompressedKeys): Addresses {
  const parameters = parametersOf(network)
  const at = (path: KeyPath) => keyAddress(parameters, publicKeys.publicKey(network.coinType, path))
  let hot: string | null = null
  return {
    parse: (text) => parseAddress(parameters, text),
    parseMemo: () => null,
    deposit: (index) => ({ address: at({ branch: 'deposit', index }), memo: null }),
    precompute: (indexes) => publicKeys.precompute?.(network.coinType, 'deposit', indexes),
    // Every create needs it: derived once.
    hot: () => (hot ??= at({ branch: 'hot', index: network.hotIndex })),
    holderId: (address) => holderOf(parameters, address),
    change: (index) => at({ branch: 'change', index }),
  }
}

/** The key hash or script hash behind an address: the same for all networks and for segwit and legacy forms. */
function holderOf(parameters: BitcoinParameters, address: string): string {
  const script = scriptOf(parameters, address)
  const template = script && templateOf(script)
  if (!template) return address
  const { type, payload } = template
  return `${type === 'pkh' || type === 'wpkh' ? 'key' : type}:${Buffer.from(payload).toString('hex')}`
}

export function parametersOf(network: Network): BitcoinParameters {
  return present(network.bitcoin, `the bitcoin parameters of ${network.id}`)
}

/** Our address of a public key: P2WPKH (BIP-84) on networks with segwit, else P2PKH (BIP-44). */
export function keyAddress(parameters: BitcoinParameters, publicKey: Uint8Array): string {
  const template = { type: keyType(parameters), payload: hash160(publicKey) }
  return present(textOf(parameters, template), 'the address of a key')
}

/** Encodes the script from the hash; the library's `p2wpkh` would also validate the key, which we derived ourselves. */
export function keyScript(parameters: BitcoinParameters, publicKey: Uint8Array): Uint8Array {
  return OutScript.encode({ type: keyType(parameters), hash: hash160(publicKey) })
}

const keyType = (parameters: BitcoinParameters): 'wpkh' | 'pkh' => (hasSegwit(parameters) ? 'wpkh' : 'pkh')

/** OpenSSL takes a tenth of the time of a JavaScript implementation. */
function hash160(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(hash('ripemd160', hash('sha256', bytes, 'buffer'), 'buffer'))
}

export function hasSegwit(parameters: BitcoinParameters): boolean {
  return parameters.bech32 !== null
}

/** The canonical form: bech32 in lower case, CashAddr in lower case with prefix, base58 with our version byte. */
export function parseAddress(parameters: BitcoinParameters, text: string): string | null {
  const script = scriptOf(parameters, text)
  return script && addressOf(parameters, script)
}

/** The output script of an address, or null if the text is no address of this network. */
export function scriptOf(parameters: BitcoinParameters, text: string): Uint8Array | null {
  if (text.length > LENGTH_MAX) return null
  if (parameters.cashAddr !== null) {
    const decoded = decodeCashAddr(parameters.cashAddr, text)
    return decoded && OutScript.encode(decoded)
  }
  return witnessScript(parameters, text) ?? base58Script(parameters, text)
}

/**
 * BIP-173 and BIP-350: version 0 with bech32, version 1 with bech32m. Refuses pay-to-anchor, which anyone can spend, unknown
 * versions, and taproot keys off the curve, which are unspendable.
 */
function witnessScript(parameters: BitcoinParameters, text: string): Uint8Array | null {
  if (parameters.bech32 === null) return null
  try {
    const decoded = Address({ bech32: parameters.bech32, pubKeyHash: 0, scriptHash: 0, wif: 0 }).decode(text)
    return decoded.type === 'wpkh' || decoded.type === 'wsh' || decoded.type === 'tr' ? OutScript.encode(decoded) : null
  } catch {
    return null
  }
}

const checked = base58check(sha256)

function base58Script(parameters: BitcoinParameters, text: string): Uint8Array | null {
  try {
    const bytes = checked.decode(text)
    const [version, hash] = [bytes[0], bytes.slice(1)]
    if (bytes.length !== 21 || version === undefined) return null
    if (version === parameters.pubKeyHash) return OutScript.encode({ type: 'pkh', hash })
    return parameters.scriptHash.includes(version) ? OutScript.encode({ type: 'sh', hash }) : null
  } catch {
    return null
  }
}

/**
 * The canonical address of an output script. null for bare multisig and bare keys: an output that others can also spend
 * must not count as a deposit.
 */
export function addressOf(parameters: BitcoinParameters, script: Uint8Array): string | null {
  const template = templateOf(script)
  return template && textOf(parameters, template)
}

function textOf(parameters: BitcoinParameters, { type, payload }: Template): string | null {
  if (type === 'pkh' || type === 'sh') {
    if (parameters.cashAddr !== null) return encodeCashAddr(parameters.cashAddr, { type, hash: payload })
    const version = type === 'pkh' ? parameters.pubKeyHash : present(parameters.scriptHash[0], 'a script hash version')
    return checked.encode(Uint8Array.of(version, ...payload))
  }
  if (parameters.bech32 === null) return null
  const [coder, version] = type === 'tr' ? [bech32m, 1] : [bech32, 0]
  return coder.encode(parameters.bech32, [version, ...coder.toWords(payload)])
}

type Template = Readonly<{ type: 'pkh' | 'sh' | 'wpkh' | 'wsh' | 'tr'; payload: Uint8Array }>

/** Compares bytes instead of parsing the script, because this runs for every output of every block. */
function templateOf(script: Uint8Array): Template | null {
  const [a, b, c] = script
  switch (script.length) {
    case 25: {
      const isKeyHash = a === 0x76 && b === 0xa9 && c === 0x14 && script[23] === 0x88 && script[24] === 0xac
      return isKeyHash ? { type: 'pkh', payload: script.slice(3, 23) } : null
    }
    case 23:
      return a === 0xa9 && b === 0x14 && script[22] === 0x87 ? { type: 'sh', payload: script.slice(2, 22) } : null
    case 22:
      return a === 0x00 && b === 0x14 ? { type: 'wpkh', payload: script.slice(2) } : null
    case 34:
      if (b !== 0x20) return null
      if (a === 0x00) return { type: 'wsh', payload: script.slice(2) }
      return a === 0x51 ? { type: 'tr', payload: script.slice(2) } : null
    default:
      return null
  }
}

export function parseHexScript(text: string): Uint8Array {
  return hex.decode(text)
}
