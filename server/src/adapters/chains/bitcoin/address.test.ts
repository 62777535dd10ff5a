import { hex } from '@scure/base'
import { p2ms, p2pk } from '@scure/btc-signer'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bch } from '../../../../networks/bch.ts'
import { btc } from '../../../../networks/btc.ts'
import { doge } from '../../../../networks/doge.ts'
import { ltc } from '../../../../networks/ltc.ts'
import { type Environment, resolveNetwork } from '../../../core/domain/network.ts'
import { addressOf, createAddresses, parametersOf, parseAddress, scriptOf } from './address.ts'
import { decodeCashAddr, encodeCashAddr } from './cash-addr.ts'

const definitions = { btc, ltc, doge, bch }
const parameters = (id: keyof typeof definitions, environment: Environment = 'production') => {
  return parametersOf(resolveNetwork(definitions[id], environment))
}

/** hash160 of the generator point, as in BIP-173. The base58 and CashAddr forms come from Python and bitcore-lib-cash. */
const HASH = '751e76e8199196d454941c45d1b3a323f1433bd6'
const KEY = hex.decode('0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798')

/** Network, environment, address, script; then the canonical form if it differs. */
const VALID: readonly [keyof typeof definitions, Environment, string, string, string?][] = [
  ['btc', 'production', '1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH', `76a914${HASH}88ac`],
  ['btc', 'production', '3CNHUhP3uyB9EUtRLsmvFUmvGdjGdkTxJw', `a914${HASH}87`],
  ['ltc', 'production', 'LVuDpNCSSj6pQ7t9Pv6d6sUkLKoqDEVUnJ', `76a914${HASH}88ac`],
  ['ltc', 'production', 'MJaRnao1s62a2zAKSkmG582KbLKianqb7v', `a914${HASH}87`],
  // The old form of a Litecoin script address parses to the new form.
  ['ltc', 'production', '3CNHUhP3uyB9EUtRLsmvFUmvGdjGdkTxJw', `a914${HASH}87`, 'MJaRnao1s62a2zAKSkmG582KbLKianqb7v'],
  ['ltc', 'sandbox', 'QXHFfTBKYXjaaTH1e7Rox8CcdNPGHVhM59', `a914${HASH}87`],
  ['doge', 'production', 'DFpN6QqFfUm3gKNaxN6tNcab1FArL9cZLE', `76a914${HASH}88ac`],
  ['doge', 'production', 'A37YDYSwz3438rFtm1SLVcQHyD7JeueC9H', `a914${HASH}87`],
  ['doge', 'sandbox', 'mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r', `76a914${HASH}88ac`],
  ['doge', 'sandbox', '2N3vVYSK5XRgVSGWy21PnsRmBUywSQNdCsf', `a914${HASH}87`],
  ['bch', 'production', 'bitcoincash:qp63uahgrxged4z5jswyt5dn5v3lzsem6cy4spdc2h', `76a914${HASH}88ac`],
  ['bch', 'production', 'bitcoincash:pp63uahgrxged4z5jswyt5dn5v3lzsem6cnsdw2m32', `a914${HASH}87`],
  ['bch', 'sandbox', 'bchreg:qp63uahgrxged4z5jswyt5dn5v3lzsem6c6mz8vuwd', `76a914${HASH}88ac`],
  // BIP-173 and BIP-350, "Test vectors for v0-v16 native segregated witness addresses".
  [
    'btc',
    'production',
    'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
    '0014751e76e8199196d454941c45d1b3a323f1433bd6',
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  ],
  [
    'btc',
    'production',
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
    '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
  ],
  // BIP-173, "Examples".
  [
    'btc',
    'production',
    'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
    '00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262',
  ],
]

describe('an address', () => {
  test.each(VALID)('of %s %s: %s', (id, environment, text, script, canonical = text) => {
    const rules = parameters(id, environment)
    expect(parseAddress(rules, text)).toBe(canonical)
    expect(hex.encode(scriptOf(rules, text) ?? new Uint8Array())).toBe(script)
    expect(addressOf(rules, hex.decode(script))).toBe(canonical)
    expect(text).toMatch(new RegExp(resolveNetwork(definitions[id], environment).regexAddress))
  })

  test('of one network is invalid on other networks, except for shared formats', () => {
    for (const [id, environment, text, , canonical = text] of VALID) {
      for (const other of Object.keys(definitions) as (keyof typeof definitions)[]) {
        for (const elsewhere of ['production', 'sandbox'] as const) {
          if (other === id && elsewhere === environment) continue
          // Litecoin also accepts Bitcoin's `3…`; all test networks share `m…`, `n…` and `2…`.
          const shared =
            text.startsWith('3') || (environment === 'sandbox' && elsewhere === 'sandbox' && /^[mn2]/.test(text))
          if (!shared) expect(parseAddress(parameters(other, elsewhere), canonical), `${text} on ${other}`).toBeNull()
        }
      }
    }
  })

  test.each([
    // BIP-350, "invalid segwit addresses".
    [
      'a taproot address under the checksum of version 0',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
    ],
    [
      'a version 0 address under the checksum of version 1',
      'bc1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq54dfnm',
    ],
    ['an invalid character in the checksum', 'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4'],
    ['an invalid witness version', 'BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R'],
    ['a program of one byte', 'bc1pw5dgrnzv'],
    ['a program of 41 bytes', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav'],
    ['a length of version 0 that there is not', 'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P'],
    ['mixed case', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jJ0'],
    ['padding of more than four bits', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf'],
    ['a future witness version (BIP-350)', 'BC1SW50QGDZ25J'],
    ['a pay-to-anchor output, which anyone may spend (BIP-433)', 'bc1pfeessrawgf'],
    ['another test network (BIP-173)', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
    ['a wrong base58 checksum', '1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMh'],
    ['a URI', 'bitcoin:1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH'],
    ['a space behind it', '1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH '],
    ['nothing', ''],
    ['very much', '1'.repeat(5000)],
  ])('is none: %s', (_name, text) => {
    expect(parseAddress(parameters('btc'), text)).toBeNull()
  })

  test('with a taproot key off the curve is refused', () => {
    // No point of secp256k1 has x = 5 (BIP-340, test vector 5, uses another such x).
    const offCurve = `5120${'00'.repeat(31)}05`
    const text = addressOf(parameters('btc'), hex.decode(offCurve))
    expect(text).toMatch(/^bc1p/)
    expect(parseAddress(parameters('btc'), text ?? '')).toBeNull()
  })

  test('parses to null or to a canonical form that parses to itself', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 120 }), fc.constantFrom('btc', 'ltc', 'doge', 'bch'), (text, id) => {
        const parsed = parseAddress(parameters(id as 'btc'), text)
        expect(parsed === null || parseAddress(parameters(id as 'btc'), parsed) === parsed).toBe(true)
      }),
    )
  })
})

describe('scripts without an address', () => {
  test.each([
    ['bare multisig (D6)', hex.encode(p2ms(1, [KEY, hex.decode(`03${hex.encode(KEY).slice(2)}`)]).script)],
    ['a bare key', hex.encode(p2pk(KEY).script)],
    ['data', '6a0b68656c6c6f20776f726c64'],
    ['nothing', ''],
    ['a key hash with something behind it', `76a914${HASH}88ac51`],
    ['a script hash of HASH256', `aa20${'11'.repeat(32)}87`],
  ])('%s', (_name, script) => {
    for (const id of ['btc', 'ltc', 'doge', 'bch'] as const)
      expect(addressOf(parameters(id), hex.decode(script))).toBeNull()
  })

  test('include segwit outputs on networks without segwit', () => {
    expect(addressOf(parameters('doge'), hex.decode(`0014${HASH}`))).toBeNull()
    expect(addressOf(parameters('bch'), hex.decode(`5120${'11'.repeat(32)}`))).toBeNull()
  })
})

describe('CashAddr', () => {
  // https://github.com/bitcoincashorg/bitcoincash.org/blob/master/spec/cashaddr.md, "Larger test vectors", of 20 bytes.
  test.each([
    ['bitcoincash', 'pkh', 'bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2'],
    ['bchtest', 'sh', 'bchtest:pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t'],
    ['pref', 'sh', 'pref:pr6m7j9njldwwzlg9v7v53unlr4jkmx6ey65nvtks5'],
  ] as const)('%s %s', (prefix, type, text) => {
    const hash = hex.decode('f5bf48b397dae70be82b3cca4793f8eb2b6cdac9')
    expect(encodeCashAddr(prefix, { type, hash })).toBe(text)
    for (const form of [text, text.toUpperCase(), text.split(':')[1] ?? '']) {
      expect(decodeCashAddr(prefix, form)).toEqual({ type, hash })
    }
  })

  test.each([
    'prefix:0r6m7j9njldwwzlg9v7v53unlr4jkmx6ey3qnjwsrf',
    'bitcoincash:q9adhakpwzztepkpwp5z0dq62m6u5v5xtyj7j3h2ws4mr9g0',
    'bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg3',
    'bitcoincash:Qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2',
    'BITCOINCASH:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2',
    'bchtest:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2',
    ':qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2',
    'bitcoincash:bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2',
  ])('refuses %s', (text) => {
    expect(decodeCashAddr('bitcoincash', text)).toBeNull()
  })

  test('detects any single wrong letter', () => {
    const text = 'qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2'
    for (let place = 0; place < text.length; place++) {
      for (const letter of 'qpzry9x8gf2tvdw0s3jn54khce6mua7l') {
        if (letter === text[place]) continue
        expect(decodeCashAddr('bitcoincash', text.slice(0, place) + letter + text.slice(place + 1))).toBeNull()
      }
    }
  })
})

describe('our own addresses', () => {
  // BIP-84, "Test vectors": first receiving key, second receiving key, first change key.
  const keys = {
    deposit: [
      '0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c',
      '03e775fd51f0dfb8cd865d9ff1cca2a158cf651fe997fdc9fee9c1d3b5e995ea77',
    ],
    hot: ['0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'],
    change: ['03025324888e429ab8e3dbaf1f7802648b9cd01e9b418485c5fa4c1b9b5700e1a6'],
  }
  const of = (id: keyof typeof definitions) => {
    const network = resolveNetwork(definitions[id], 'production')
    return createAddresses(network, {
      publicKey: (coinType, { branch, index }) => {
        expect(coinType).toBe(network.coinType)
        return hex.decode(keys[branch][index] ?? '')
      },
    })
  }

  test('are P2WPKH on networks with segwit', () => {
    expect(of('btc').deposit(0)).toEqual({ address: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu', memo: null })
    expect(of('btc').deposit(1)).toEqual({ address: 'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g', memo: null })
    expect(of('btc').change(0)).toBe('bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el')
    expect(of('btc').hot()).toBe('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')
  })

  test('are P2PKH on other networks', () => {
    expect(of('doge').hot()).toBe('DFpN6QqFfUm3gKNaxN6tNcab1FArL9cZLE')
    expect(of('bch').hot()).toBe('bitcoincash:qp63uahgrxged4z5jswyt5dn5v3lzsem6cy4spdc2h')
  })

  test('have no memo', () => {
    expect(of('btc').parseMemo('1')).toBeNull()
  })
})

test('one key has the same holderId id on every network, with segwit and without', () => {
  const holders = (['btc', 'ltc', 'doge', 'bch'] as const).flatMap((id) => {
    const network = resolveNetwork(definitions[id], 'production')
    const [plain, witness] = [
      addressOf(parameters(id), hex.decode(`76a914${HASH}88ac`)),
      addressOf(parameters(id), hex.decode(`0014${HASH}`)),
    ]
    const { holderId } = createAddresses(network, { publicKey: () => KEY })
    return [plain, witness].flatMap((address) => (address === null ? [] : [holderId?.(address)]))
  })
  expect(holders).toHaveLength(6)
  expect(new Set(holders).size).toBe(1)
  const { holderId } = createAddresses(resolveNetwork(btc, 'production'), { publicKey: () => KEY })
  const script = addressOf(parameters('btc'), hex.decode(`a914${HASH}87`)) ?? ''
  expect(holderId?.(script)).not.toBe(holders[0])
})
