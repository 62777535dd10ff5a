import { bech32, bech32m, hex } from '@scure/base'

/** Examples of EIP-55, also in a single case. Invalid: wrong case, missing digit, no prefix, ENS names, other families. */
export const evmAddresses = {
  encodings: [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  ].flatMap((canonical) => [
    [canonical, canonical] as const,
    [canonical.toLowerCase(), canonical] as const,
    [`0x${canonical.slice(2).toUpperCase()}`, canonical] as const,
  ]),
  invalidAddresses: [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed',
    '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beae',
    '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0X5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED',
    'vitalik.eth',
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
  ],
}

/** The key hash of BIP-173's examples, and the output key of BIP-350's. */
const KEY_HASH = hex.decode('751e76e8199196d454941c45d1b3a323f1433bd6')
const OUTPUT_KEY = hex.decode('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798')

/** Segwit addresses with a network's prefix, encoded by another library. Invalid: those of other networks, and malformed ones. */
export function bitcoinAddresses(prefix: string) {
  const witness = (coder: typeof bech32 | typeof bech32m, version: number, program: Uint8Array) =>
    coder.encode(prefix as 'bc', [version, ...coder.toWords(program)])
  const key = witness(bech32, 0, KEY_HASH)
  const taproot = witness(bech32m, 1, OUTPUT_KEY)
  return {
    encodings: [key, taproot].flatMap((canonical) => [
      [canonical, canonical] as const,
      [canonical.toUpperCase(), canonical] as const,
    ]),
    invalidAddresses: [
      // Version 0 with bech32m, version 1 with bech32 (BIP-350), and an undefined version.
      witness(bech32m, 0, KEY_HASH),
      witness(bech32, 1, OUTPUT_KEY),
      witness(bech32m, 2, OUTPUT_KEY),
      `${key.slice(0, -1)}${key.endsWith('q') ? 'p' : 'q'}`,
      `${key.slice(0, 8).toUpperCase()}${key.slice(8)}`,
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
      '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    ],
  }
}

/**
 * The general fund's address and another one of Monero's documentation and tests (getmonero.org, monero-project/monero).
 * Invalid: a changed letter, testnet and stagenet, other families.
 */
export const moneroAddresses = {
  encodings: [
    '888tNkZrPN6JsEgekjMnABU4TBzc2Dt29EPAvkRxbANsAnjyPbb3iQ1YBRk1UXcdRsiKc9dhwMVgN5S9cQUiyoogDavup3H',
    '44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A',
  ].map((text) => [text, text] as const),
  invalidAddresses: [
    '888tNkZrPN6JsEgekjMnABU4TBzc2Dt29EPAvkRxbANsAnjyPbb3iQ1YBRk1UXcdRsiKc9dhwMVgN5S9cQUiyoogDavup3h',
    '44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3B',
    '9wviCeWe2D8XS82k2ovp5EUYLzBt9pYNW2LXUFsZiv8S3Mt21FZ5qQaAroko1enzw3eGr9qC7X1D7Geoo2RrAotYPwq9Gm8',
    '54AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  ],
}
