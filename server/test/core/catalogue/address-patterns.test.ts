import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { networks } from '../../../networks/index.ts'
import { type Environment, resolveNetwork } from '../../../src/core/domain/network.ts'
import {
  addressForms,
  base58check,
  cashAddr,
  moneroAddress,
  rippleAddress,
  stellarAddress,
  tonAddress,
  tronAddress,
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

function patternOf(network: string, environment: Environment): RegExp {
  const pattern = patterns.get(`${network} ${environment}`)
  if (!pattern) throw new Error(`${network} has no pattern`)
  return pattern
}

/** Hashed, so that every value is a private key in range, fast-check's favourite zeros too. */
const keys = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => sha256(bytes))
const title = (form: (typeof addressForms)[number]) => `${form.network} ${form.environment}: ${form.name}`
const forms = addressForms.map((form) => [title(form), form] as const)

describe('regexAddress takes every real address', () => {
  it('has forms of every network in both environments', () => {
    const covered = new Set(addressForms.map((form) => `${form.network} ${form.environment}`))
    expect([...patterns.keys()].filter((key) => !covered.has(key))).toEqual([])
  })

  it.each(forms)('%s', (_, form) => {
    const pattern = patternOf(form.network, form.environment)
    fc.assert(
      fc.property(keys, (key) => {
        expect(form.derive(key)).toMatch(pattern)
      }),
      { numRuns: 40 },
    )
  })

  it('at both ends of every version byte', () => {
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
        expect(address).toMatch(patternOf(network, environment))
      }
    }
    for (const fill of [0, 255]) {
      const hash = new Uint8Array(20).fill(fill)
      for (const version of [0, 8])
        expect(cashAddr('bitcoincash', version, hash)).toMatch(patternOf('bch', 'production'))
      expect(rippleAddress(concatBytes(Uint8Array.of(0), hash))).toMatch(patternOf('xrp', 'production'))
      expect(stellarAddress(new Uint8Array(32).fill(fill))).toMatch(patternOf('xlm', 'production'))
      for (const tag of [0x11, 0x51])
        expect(tonAddress(tag, new Uint8Array(32).fill(fill))).toMatch(patternOf('ton', 'production'))
    }
  })
})

describe('the derivations of this test', () => {
  /** Published pairs, so that a slip in a derivation above cannot agree with a slip in a pattern. */
  it('give the published addresses', () => {
    // CashAddr specification, "Examples of address translation".
    const hash = base58check.decode('1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu').subarray(1)
    expect(cashAddr('bitcoincash', 0, hash)).toBe('bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a')
    // XRP Ledger documentation: ACCOUNT_ZERO.
    expect(rippleAddress(new Uint8Array(21))).toBe('rrrrrrrrrrrrrrrrrrrrrhoLvTp')
    // SEP-23 test vector.
    expect(stellarAddress(hexToBytes('3f0c34bf93ad0d9971d04ccc90f705511c838aad9734a4a2fb0d7a03fc7fe89a'))).toBe(
      'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ',
    )
    // TON: the zero address.
    expect(tonAddress(0x11, new Uint8Array(32))).toBe('EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c')
    expect(tonAddress(0x51, new Uint8Array(32))).toBe('UQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAJKZ')
    // TRON: private key 1 has the Ethereum address 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf under 0x41.
    expect(tronAddress(hexToBytes('01'.padStart(64, '0')))).toBe(
      base58check.encode(hexToBytes('417e5f4552091a69125d5dfcb7b8c2659029395bdf')),
    )
    expect(moneroAddress(18, sha256(new Uint8Array(32)))).toHaveLength(95)
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
  ])('and %s takes the well known %s', (network, address) => {
    expect(address).toMatch(patternOf(network, 'production'))
  })
})

describe('regexAddress refuses near-misses', () => {
  it.each(forms)('%s', (_, form) => {
    const pattern = patternOf(form.network, form.environment)
    fc.assert(
      fc.property(keys, fc.nat(), fc.nat(), (key, at, which) => {
        const address = form.derive(key)
        const index = 1 + (at % (address.length - 1))
        const illegal = form.illegal.charAt(which % form.illegal.length)
        const wrong = [
          // Behind the separators of bech32 and CashAddr, where `1` and `b` do not belong.
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
        if (form.fixedLength) {
          wrong.push(address.slice(0, index) + address.slice(index + 1))
          wrong.push(address.slice(0, index) + address.charAt(index) + address.slice(index))
        }
        for (const text of wrong) expect(text).not.toMatch(pattern)
      }),
      { numRuns: 40 },
    )
  })

  it('refuses mixed case where the form has one case', () => {
    expect('bc1qAR0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq').not.toMatch(patternOf('btc', 'production'))
    expect('bitcoincash:QPM2QSZNHKS23Z7629MMS6S4CWEF74VCWVY22GDX6A').not.toMatch(patternOf('bch', 'production'))
    expect('tr7nhqjekqxgtci8q8zy4pl8otszgjlj6t').not.toMatch(patternOf('trx', 'production'))
  })
})

describe('regexAddress refuses other networks', () => {
  /** What has one form on two networks. Solana's form, base58 without a version, cannot refuse others and is left out. */
  const evm = new Set(networks.filter((network) => network.family === 'evm').map((network) => network.id))
  const sameForm = (a: string, b: string, form: (typeof addressForms)[number]) =>
    (evm.has(a) && evm.has(b)) ||
    // Litecoin's old P2SH is Bitcoin's.
    (['btc', 'ltc'].includes(a) && ['btc', 'ltc'].includes(b) && form.name === 'p2sh of version 5') ||
    // Regtest chains descend from one another and kept the version bytes.
    (form.environment === 'sandbox' &&
      /version (111|196)$/.test(form.name) &&
      [a, b].every((id) => ['btc', 'ltc', 'doge'].includes(id)))

  it.each(forms)('%s', (_, form) => {
    fc.assert(
      fc.property(keys, (key) => {
        const address = form.derive(key)
        const takers = networks
          .map((network) => network.id)
          .filter((id) => id !== 'sol' && patternOf(id, form.environment).test(address))
        expect(takers.filter((id) => id !== form.network && !sameForm(form.network, id, form))).toEqual([])
      }),
      { numRuns: 15 },
    )
  })

  /** Networks whose addresses are the same on main and test chains, by their own rules. */
  const oneForAll = new Set([...evm, 'xmr', 'sol', 'sui', 'xlm', 'trx'])

  it.each(
    forms.filter(
      ([, form]) =>
        !oneForAll.has(form.network) && !form.name.startsWith('classic') && !form.name.includes('without its prefix'),
    ),
  )('and the other environment: %s', (_, form) => {
    const other = patternOf(form.network, form.environment === 'production' ? 'sandbox' : 'production')
    fc.assert(
      fc.property(keys, (key) => {
        expect(form.derive(key)).not.toMatch(other)
      }),
      { numRuns: 15 },
    )
  })
})
