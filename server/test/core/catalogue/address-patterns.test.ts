import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { networks } from '../../../networks/index.ts'
import { type Environment, resolveNetwork } from '../../../src/core/domain/network.ts'
import {
  addressFormats,
  base58check,
  deriveMoneroAddress,
  deriveTronAddress,
  encodeCashAddr,
  encodeRippleAddress,
  encodeStellarAddress,
  encodeTonAddress,
} from './derive-addresses.ts'

const environments: readonly Environment[] = ['production', 'sandbox']
const patterns = new Map(
  environments.flatMap((environment) =>
    networks.map(
      (network) =>
        [`${network.id} ${environment}`, new RegExp(resolveNetwork(network, environment).regexAddress)] as const,
    ),
  ),
)

function findPattern(network: string, environment: Environment): RegExp {
  const pattern = patterns.get(`${network} ${environment}`)
  if (!pattern) throw new Error(`${network} has no pattern`)
  return pattern
}

/** Private keys: hashed, so that every value is in range, also the zeros that fast-check prefers. */
const keys = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => sha256(bytes))
const formatTitle = (format: (typeof addressFormats)[number]) =>
  `${format.network} ${format.environment}: ${format.name}`
const formats = addressFormats.map((format) => [formatTitle(format), format] as const)

describe('regexAddress accepts valid addresses', () => {
  it('has test formats of every network in both environments', () => {
    const covered = new Set(addressFormats.map((format) => `${format.network} ${format.environment}`))
    expect([...patterns.keys()].filter((key) => !covered.has(key))).toEqual([])
  })

  it.each(formats)('%s', (_, format) => {
    const pattern = findPattern(format.network, format.environment)
    fc.assert(
      fc.property(keys, (key) => {
        expect(format.derive(key)).toMatch(pattern)
      }),
      { numRuns: 40 },
    )
  })

  it('accepts the lowest and the highest hash of every version byte', () => {
    const ends: readonly (readonly [string, Environment, number])[] = [
      ['btc', 'production', 0],
      ['btc', 'production', 5],
      ['btc', 'sandbox', 111],
      ['btc', 'sandbox', 196],
      ['ltc', 'production', 48],
      ['ltc', 'production', 50],
      ['ltc', 'production', 5],
      ['ltc', 'sandbox', 58],
      ['doge', 'production', 30],
      ['doge', 'production', 22],
      ['trx', 'production', 65],
    ]
    for (const [network, environment, version] of ends) {
      for (const fill of [0, 255]) {
        const address = base58check.encode(concatBytes(Uint8Array.of(version), new Uint8Array(20).fill(fill)))
        expect(address).toMatch(findPattern(network, environment))
      }
    }
    for (const fill of [0, 255]) {
      const hash = new Uint8Array(20).fill(fill)
      for (const version of [0, 8])
        expect(encodeCashAddr('bitcoincash', version, hash)).toMatch(findPattern('bch', 'production'))
      expect(encodeRippleAddress(concatBytes(Uint8Array.of(0), hash))).toMatch(findPattern('xrp', 'production'))
      expect(encodeStellarAddress(new Uint8Array(32).fill(fill))).toMatch(findPattern('xlm', 'production'))
      for (const tag of [0x11, 0x51])
        expect(encodeTonAddress(tag, new Uint8Array(32).fill(fill))).toMatch(findPattern('ton', 'production'))
    }
  })
})

describe('test derivations', () => {
  /** Published pairs detect an error in a derivation that matches the same error in a pattern. */
  it('yield published addresses', () => {
    // CashAddr specification, "Examples of address translation".
    const hash = base58check.decode('1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu').subarray(1)
    expect(encodeCashAddr('bitcoincash', 0, hash)).toBe('bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a')
    // XRP Ledger documentation: ACCOUNT_ZERO.
    expect(encodeRippleAddress(new Uint8Array(21))).toBe('rrrrrrrrrrrrrrrrrrrrrhoLvTp')
    // SEP-23 test vector.
    expect(encodeStellarAddress(hexToBytes('3f0c34bf93ad0d9971d04ccc90f705511c838aad9734a4a2fb0d7a03fc7fe89a'))).toBe(
      'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ',
    )
    // TON: the zero address.
    expect(encodeTonAddress(0x11, new Uint8Array(32))).toBe('EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c')
    expect(encodeTonAddress(0x51, new Uint8Array(32))).toBe('UQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAJKZ')
    // TRON: private key 1 has the Ethereum address 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf under 0x41.
    expect(deriveTronAddress(hexToBytes('01'.padStart(64, '0')))).toBe(
      base58check.encode(hexToBytes('417e5f4552091a69125d5dfcb7b8c2659029395bdf')),
    )
    expect(deriveMoneroAddress(18, sha256(new Uint8Array(32)))).toHaveLength(95)
  })

  it.each([
    ['btc', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['btc', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    ['btc', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4'],
    ['btc', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'],
    // Monero's general fund.
    ['xmr', '888tNkZrPN6JsEgekjMnABU4TBzc2Dt29EPAvkRxbANsAnjyPbb3iQ1YBRk1UXcdRsiKc9dhwMVgN5S9cQUiyoogDavup3H'],
    ['sol', '11111111111111111111111111111111'],
    ['sol', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
    ['trx', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    ['ton', 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs'],
    ['xlm', 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN'],
    ['xrp', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'],
    ['xrp', 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ'],
    ['doge', 'DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L'],
    ['bch', 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a'],
  ])('agree with the pattern of %s on the published %s', (network, address) => {
    expect(address).toMatch(findPattern(network, 'production'))
  })
})

describe('regexAddress rejects invalid addresses', () => {
  it.each(formats)('%s', (_, format) => {
    const pattern = findPattern(format.network, format.environment)
    fc.assert(
      fc.property(keys, fc.nat(), fc.nat(), (key, at, which) => {
        const address = format.derive(key)
        const index = 1 + (at % (address.length - 1))
        const illegal = format.illegal.charAt(which % format.illegal.length)
        const invalid = [
          // After the separators of bech32 and CashAddr, where `1` and `b` are illegal.
          address.slice(0, -1) + illegal,
          address.slice(0, -7) + illegal + address.slice(-6),
          `${address}\n`,
          ` ${address}`,
          `${address} `,
          `0${address}`,
          address + address,
          `${address},${address}`,
          '',
          address.slice(0, 8),
        ]
        if (format.fixedLength) {
          invalid.push(address.slice(0, index) + address.slice(index + 1))
          invalid.push(address.slice(0, index) + address.charAt(index) + address.slice(index))
        }
        for (const text of invalid) expect(text).not.toMatch(pattern)
      }),
      { numRuns: 40 },
    )
  })

  it('rejects mixed case in formats with one case', () => {
    expect('bc1qAR0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq').not.toMatch(findPattern('btc', 'production'))
    expect('bitcoincash:QPM2QSZNHKS23Z7629MMS6S4CWEF74VCWVY22GDX6A').not.toMatch(findPattern('bch', 'production'))
    expect('tr7nhqjekqxgtci8q8zy4pl8otszgjlj6t').not.toMatch(findPattern('trx', 'production'))
  })
})

describe('regexAddress rejects addresses of other networks', () => {
  /** Formats that two networks share. Solana is omitted: its addresses are base58 without a version and match those of others. */
  const evmNetworks = new Set(networks.filter((network) => network.family === 'evm').map((network) => network.id))
  const isSharedFormat = (a: string, b: string, format: (typeof addressFormats)[number]) =>
    (evmNetworks.has(a) && evmNetworks.has(b)) ||
    // Litecoin's old P2SH has Bitcoin's version byte.
    (['btc', 'ltc'].includes(a) && ['btc', 'ltc'].includes(b) && format.name === 'p2sh of version 5') ||
    // The regtest chains of Bitcoin, Litecoin and Dogecoin share version bytes.
    (format.environment === 'sandbox' &&
      /version (111|196)$/.test(format.name) &&
      [a, b].every((id) => ['btc', 'ltc', 'doge'].includes(id)))

  it.each(formats)('%s', (_, format) => {
    fc.assert(
      fc.property(keys, (key) => {
        const address = format.derive(key)
        const acceptingNetworks = networks
          .map((network) => network.id)
          .filter((id) => id !== 'sol' && findPattern(id, format.environment).test(address))
        expect(
          acceptingNetworks.filter((id) => id !== format.network && !isSharedFormat(format.network, id, format)),
        ).toEqual([])
      }),
      { numRuns: 15 },
    )
  })

  /** Networks that define the same addresses for main and test chains. */
  const sharedByEnvironments = new Set([...evmNetworks, 'xmr', 'sol', 'sui', 'xlm', 'trx'])

  it.each(
    formats.filter(
      ([, format]) =>
        !sharedByEnvironments.has(format.network) &&
        !format.name.startsWith('classic') &&
        !format.name.includes('without its prefix'),
    ),
  )('rejects the other environment: %s', (_, format) => {
    const other = findPattern(format.network, format.environment === 'production' ? 'sandbox' : 'production')
    fc.assert(
      fc.property(keys, (key) => {
        expect(format.derive(key)).not.toMatch(other)
      }),
      { numRuns: 15 },
    )
  })
})
