import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { p2pkh, p2wpkh } from '@scure/btc-signer'
import { bytesToHex } from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { payoutPayee } from '../../exchange/ports/payee-macs.ts'
import type { Signer, SignIntent, StoredPayout } from '../../exchange/ports/signer.ts'
import type { Payment } from '../../exchange/ports/spend.ts'
import { createKeystore, exportPublicKeys, openPublicKeys, openSigner } from './keystore.ts'
import { hasSeed } from './keystore-file.ts'
import { createPayeeMacs } from './payee-macs.ts'

/** The words of the vectors of BIP-84 and of every wallet's test suite. */
const WORDS = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'
const PASSPHRASE = 'a passphrase of some length'
const coinTypes = [0, 2, 3, 60, 145]

let folder: string
let path: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'swapyard-keystore-'))
  path = join(folder, 'keystore.json')
  await createKeystore(path, PASSPHRASE, coinTypes, WORDS)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const asset = { id: 'btc@btc', ticker: 'btc', network: 'btc', decimals: 8, contract: null } as const
const pay: Payment = {
  payoutId: 'p1',
  address: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
  memo: null,
  asset,
  units: 90_000n,
}
const macs = createPayeeMacs(Buffer.from('a pepper'))
/** As this program writes it. */
const authentic = (payout: Omit<StoredPayout, 'mac'>): StoredPayout => ({
  ...payout,
  mac: macs.of(payoutPayee(payout)),
})
const ofNothing = { exchangeId: null, depositId: null, owedFrom: null }
const plain = {
  ...({ id: 'p1', purpose: 'payout', toKeyIndex: null, network: 'btc', address: pay.address, memo: null } as const),
  ...{ assetId: asset.id, units: pay.units, ...ofNothing },
}
const stored = authentic(plain)
const intentOf = (...pays: Payment[]): SignIntent => ({
  family: 'bitcoin',
  network: 'btc',
  inputs: [{ outpoint: `${'a'.repeat(64)}:0`, units: 100_000n, path: { branch: 'hot', index: 0 } }],
  pays,
  change: null,
})

describe('restore from the backup: published words give the published addresses', () => {
  const keyOf = (coinType: number, branch: 'deposit' | 'hot' | 'change', index: number) =>
    openPublicKeys(path).publicKey(coinType, { branch, index })

  test('bitcoin: the vector of BIP-84', () => {
    expect(bytesToHex(keyOf(0, 'deposit', 0))).toBe(
      '0x0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c',
    )
    expect(p2wpkh(keyOf(0, 'deposit', 0)).address).toBe('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu')
    expect(p2wpkh(keyOf(0, 'deposit', 1)).address).toBe('bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g')
  })

  test('evm: the first account that wallets show for these words', () => {
    const point = secp256k1.Point.fromBytes(keyOf(60, 'deposit', 0)).toBytes(false)
    expect(publicKeyToAddress(bytesToHex(point))).toBe('0x9858EfFD232B4033E47d90003D41EC34EcaEda94')
  })

  test('litecoin and dogecoin: likewise', () => {
    const litecoin = { bech32: 'ltc', pubKeyHash: 0x30, scriptHash: 0x32, wif: 0xb0 }
    expect(p2wpkh(keyOf(2, 'deposit', 0), litecoin).address).toBe('ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh')
    const dogecoin = { bech32: '', pubKeyHash: 0x1e, scriptHash: 0x16, wif: 0x9e }
    expect(p2pkh(keyOf(3, 'deposit', 0), dogecoin).address).toBe('DBus3bamQjgJULBJtYXpEzDWQRwF5iwxgC')
  })

  test('no two paths share a key, and what lies outside BIP-32 is refused', () => {
    const keys = (['deposit', 'hot', 'change'] as const).flatMap((branch) =>
      [0, 1, 2 ** 31 - 1].map((index) => bytesToHex(keyOf(0, branch, index))),
    )
    expect(new Set(keys).size).toBe(keys.length)
    for (const index of [-1, 0.5, 2 ** 31, Number.NaN]) expect(() => keyOf(0, 'deposit', index)).toThrow()
    expect(() => keyOf(144, 'deposit', 0)).toThrow()
  })

  test('signs with the private keys of the public keys that it shows', async () => {
    const signingKeys: string[] = []
    const signWith = (
      _intent: SignIntent,
      keys: { privateKey(path: { branch: 'deposit' | 'hot' | 'change'; index: number }): Uint8Array },
    ) => {
      for (const branch of ['deposit', 'hot', 'change'] as const)
        signingKeys.push(bytesToHex(secp256k1.getPublicKey(keys.privateKey({ branch, index: 5 }), true)))
      return { txHash: 'x', raw: 'y' }
    }
    const signer = await openSigner({
      macs,
      path,
      passphrase: PASSPHRASE,
      journalPath: join(folder, 'restore.log'),
      signWith: { bitcoin: signWith },
      coinTypeOf: () => 0,
    })
    await signer.sign(intentOf(pay), [stored])
    await signer.close()
    expect(signingKeys).toEqual(
      (['deposit', 'hot', 'change'] as const).map((branch) => bytesToHex(keyOf(0, branch, 5))),
    )
  })
})

describe('the keystore file', () => {
  const open = (file: string, passphrase: string) =>
    openSigner({
      macs,
      path: file,
      passphrase,
      journalPath: join(folder, 'file.log'),
      signWith: {},
      coinTypeOf: () => 0,
    })

  test('is readable by its owner only, does not contain the words, and is never overwritten', async () => {
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const before = readFileSync(path, 'utf8')
    expect(before).not.toContain('abandon')
    await expect(createKeystore(path, 'another passphrase', coinTypes)).rejects.toThrow('already')
    expect(readFileSync(path, 'utf8')).toBe(before)
  })

  test('makes other words each time, and rejects misspelt words', async () => {
    const [one, two] = [
      await createKeystore(join(folder, '1.json'), PASSPHRASE, [0]),
      await createKeystore(join(folder, '2.json'), PASSPHRASE, [0]),
    ]
    expect(one.split(' ')).toHaveLength(24)
    expect(one).not.toBe(two)
    await expect(createKeystore(join(folder, '3.json'), PASSPHRASE, [0], `${WORDS} abandon`)).rejects.toThrow('BIP-39')
  })

  test('does not open with another passphrase', async () => {
    await expect(open(path, `${PASSPHRASE} `)).rejects.toThrow('the passphrase is wrong')
  })

  type Parsed = { accounts: Record<string, string>; seed: Record<string, string> }
  const flip = (hex: string) => (hex[0] === '0' ? '1' : '0') + hex.slice(1)
  test.each<[string, (file: Parsed) => void]>([
    ['a byte of the seed', ({ seed }) => Object.assign(seed, { bytes: flip(seed['bytes'] ?? '') })],
    ['a byte of the tag', ({ seed }) => Object.assign(seed, { tag: flip(seed['tag'] ?? '') })],
    ['a byte of the salt', ({ seed }) => Object.assign(seed, { salt: flip(seed['salt'] ?? '') })],
    [
      "an account, so that deposits go to another's keys",
      ({ accounts }) => Object.assign(accounts, { "m/84'/0'/0'": accounts["m/84'/0'/1'"] }),
    ],
    ['a tag cut short', ({ seed }) => Object.assign(seed, { tag: (seed['tag'] ?? '').slice(0, 8) })],
  ])('does not open with %s changed', async (_what, change) => {
    const file = JSON.parse(readFileSync(path, 'utf8')) as Parsed
    change(file)
    const changed = join(folder, 'changed.json')
    writeFileSync(changed, JSON.stringify(file))
    await expect(open(changed, PASSPHRASE)).rejects.toThrow()
  })

  test('of another version is refused', () => {
    const other = join(folder, 'other.json')
    writeFileSync(other, JSON.stringify({ version: 2 }))
    expect(() => openPublicKeys(other)).toThrow('not a keystore of this version')
  })
})

describe('the public half alone', () => {
  test('shows every address, holds nothing that signs, and opens for no worker', async () => {
    const half = join(folder, 'public.json')
    await exportPublicKeys(path, half)
    expect([hasSeed(path), hasSeed(half)]).toEqual([true, false])
    expect(Object.keys(JSON.parse(readFileSync(half, 'utf8'))).sort()).toEqual(['accounts', 'seed', 'version'])
    expect(readFileSync(half, 'utf8')).not.toMatch(/[xyzt]prv|scrypt/)
    for (const coinType of coinTypes)
      for (const branch of ['deposit', 'hot', 'change'] as const)
        expect(openPublicKeys(half).uncompressedKey(coinType, { branch, index: 7 })).toEqual(
          openPublicKeys(path).uncompressedKey(coinType, { branch, index: 7 }),
        )
    const opening = openSigner({
      macs,
      path: half,
      passphrase: PASSPHRASE,
      journalPath: join(folder, 'half.log'),
      signWith: {},
      coinTypeOf: () => 0,
    })
    await expect(opening).rejects.toThrow('public keys alone')
    await expect(exportPublicKeys(path, half)).rejects.toThrow('already')
  })
})

describe('the signer', () => {
  let signer: Signer & { close(): Promise<void> }
  let signed: SignIntent[]
  beforeAll(async () => {
    signed = []
    const signWith = (intent: SignIntent) => {
      signed.push(intent)
      return { txHash: 'hash', raw: 'raw' }
    }
    signer = await openSigner({
      macs,
      path,
      passphrase: PASSPHRASE,
      journalPath: join(folder, 'signer.log'),
      signWith: { bitcoin: signWith },
      coinTypeOf: () => 0,
    })
  })
  afterAll(() => signer.close())

  test.each<[string, readonly Payment[], readonly StoredPayout[]]>([
    ['another address', [{ ...pay, address: 'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g' }], [stored]],
    ['another memo', [{ ...pay, memo: '1' }], [stored]],
    ['another asset', [{ ...pay, asset: { ...asset, id: 'usdt@eth' } }], [stored]],
    ['one unit more', [{ ...pay, units: pay.units + 1n }], [stored]],
    ['one unit less', [{ ...pay, units: pay.units - 1n }], [stored]],
    ['a payout that is not stored', [{ ...pay, payoutId: 'p2' }], [stored]],
    ['one payout twice', [pay, pay], [stored, stored]],
    ['a pay without a stored payout', [pay, { ...pay, payoutId: 'p2' }], [stored]],
    ['a stored payout without a pay', [pay], [stored, authentic({ ...plain, id: 'p2' })]],
    ['nothing', [], []],
  ])('does not sign %s', async (_what, pays, payouts) => {
    const before = signed.length
    await expect(signer.sign(intentOf(...pays), payouts)).rejects.toThrow()
    expect(signed.length).toBe(before)
  })

  // M22: everybody who can write one row to the database was paid.
  test.each<[string, Partial<StoredPayout>]>([
    ['without a code', { mac: null }],
    ['with the code of another payout', { mac: authentic({ ...plain, id: 'p2' }).mac }],
    ['of another exchange', { exchangeId: 'e2' }],
    ['of another purpose', { purpose: 'withdrawal' }],
    ['of another network', { network: 'ltc' }],
  ])('M22: does not sign a payout %s', async (_what, change) => {
    const before = signed.length
    await expect(signer.sign(intentOf(pay), [{ ...stored, ...change }])).rejects.toThrow()
    expect(signed.length).toBe(before)
  })

  test('signs what is stored, and refuses an unknown family', async () => {
    expect(await signer.sign(intentOf(pay), [stored])).toEqual({ txHash: 'hash', raw: 'raw' })
    const evm: SignIntent = {
      family: 'evm',
      network: 'eth',
      chainId: 1,
      from: { branch: 'hot', index: 0 },
      nonce: 0,
      pay,
      gasLimit: 1n,
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
    }
    await expect(signer.sign(evm, [authentic({ ...plain, network: 'eth' })])).rejects.toThrow(
      'a signing function for evm',
    )
  })
})

describe('M22: payouts to ourselves (a row of the database named any address)', () => {
  const native = { id: 'eth@eth', ticker: 'eth', network: 'eth', decimals: 18, contract: null } as const
  const signWith = () => ({ txHash: 'hash', raw: 'raw' })
  const open = (journal: string) =>
    openSigner({
      macs,
      path,
      passphrase: PASSPHRASE,
      journalPath: join(folder, journal),
      signWith: { evm: signWith },
      coinTypeOf: () => 60,
      addressesOf: (network) =>
        network === 'eth' ? { hot: () => '0xhot', deposit: (n) => ({ address: `0xdeposit${n}`, memo: null }) } : null,
    })
  const sign = async (
    branch: 'deposit' | 'hot',
    address: string,
    { purpose, toKeyIndex = null }: { purpose: StoredPayout['purpose']; toKeyIndex?: number | null },
  ) => {
    const signer = await open(`own-${purpose}-${branch}-${address}-${toKeyIndex}.log`)
    const payment: Payment = { payoutId: 'p1', address, memo: null, asset: native, units: 5n }
    const payout = authentic({
      ...{ id: 'p1', purpose, toKeyIndex, network: 'eth', address, memo: null, assetId: native.id, units: 5n },
      ...ofNothing,
    })
    const fees = { gasLimit: 1n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
    const intent: SignIntent = {
      family: 'evm',
      network: 'eth',
      chainId: 1,
      from: { branch, index: 3 },
      nonce: 0,
      pay: payment,
      ...fees,
    }
    return signer.sign(intent, [payout]).finally(() => signer.close())
  }

  test('are signed to the hot wallet of the signer, and to its deposit address', async () => {
    await expect(sign('deposit', '0xhot', { purpose: 'sweep' })).resolves.toMatchObject({ raw: 'raw' })
    await expect(sign('hot', '0xdeposit7', { purpose: 'gas', toKeyIndex: 7 })).resolves.toMatchObject({ raw: 'raw' })
    await expect(sign('hot', '0xhot', { purpose: 'split' })).resolves.toMatchObject({ raw: 'raw' })
  })

  test.each([
    ['a sweep to a stranger', 'deposit', '0xthief', { purpose: 'sweep' }],
    ['a sweep from the hot wallet', 'hot', '0xhot', { purpose: 'sweep' }],
    ['a split to a stranger', 'hot', '0xthief', { purpose: 'split' }],
    ['a consolidation to a stranger', 'hot', '0xthief', { purpose: 'consolidate' }],
    ['gas to a stranger', 'hot', '0xthief', { purpose: 'gas', toKeyIndex: 7 }],
    ['gas to an address without a key', 'hot', '0xdeposit7', { purpose: 'gas' }],
    ['a payout from a deposit address', 'deposit', '0xcustomer', { purpose: 'payout' }],
  ] as const)('are not signed: %s', async (_what, branch, address, parts) => {
    await expect(sign(branch, address, parts)).rejects.toThrow()
  })
})

describe('ids of payouts', () => {
  const origin = '["btc","ab:0",0,"0"]'
  const signerOf = (keystore: string, journal: string) =>
    openSigner({
      macs,
      path: keystore,
      passphrase: PASSPHRASE,
      journalPath: join(folder, journal),
      signWith: { bitcoin: () => ({ raw: 'raw', txHash: 'tx' }) },
      coinTypeOf: () => 0,
    })

  test('are the same for all keystores of the same words, and others for other words', async () => {
    const [again, other] = [join(folder, 'same-words.json'), join(folder, 'other-words.json')]
    const cost = { N: 2 ** 10, r: 8, p: 1 }
    await createKeystore(again, PASSPHRASE, [60], WORDS, cost)
    await createKeystore(other, PASSPHRASE, coinTypes, undefined, cost)
    const signers = await Promise.all([path, again, other].map((file, n) => signerOf(file, `ids-${n}.log`)))
    const [first, second, third] = signers.map((signer) => signer.payoutId(origin))
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(second).toBe(first)
    expect(third).not.toBe(first)
    expect(signers[0]?.payoutId('["btc","ab:0",1,"0"]')).not.toBe(first)
    await Promise.all(signers.map((signer) => signer.close()))
  })
})
