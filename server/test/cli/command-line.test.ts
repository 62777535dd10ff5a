import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPostgres } from '../../src/adapters/embedded-postgres/postgres.ts'
import { openDatabase } from '../../src/adapters/postgres/core/database.ts'
import { createStore } from '../../src/adapters/postgres/exchange/store.ts'
import { lockFolder } from '../../src/lib/lock.ts'
import { openShell, type Shell } from './shell.ts'

let shell: Shell
let folder: string
let url: string
let swapyard: Shell['swapyard']

beforeAll(async () => {
  shell = await openShell()
  ;({ folder, url, swapyard } = shell)
})
afterAll(() => shell.close())

describe('the command line', () => {
  test('creates the keystore once, lists its addresses, and restores it from its words', async () => {
    const created = await swapyard(['keystore', 'create'])
    expect(created).toMatchObject({ code: 0, lines: [{ words: expect.stringMatching(/^([a-z]+ ){23}[a-z]+$/) }] })
    const before = readFileSync(join(folder, 'keystore.json'), 'utf8')
    const again = await swapyard(['keystore', 'create'])
    expect(again).toMatchObject({ code: 1, error: expect.stringContaining('already') })
    expect(readFileSync(join(folder, 'keystore.json'), 'utf8')).toBe(before)
    const { lines } = await swapyard(['keystore', 'addresses'])
    expect(lines.find(({ network }) => network === 'btc')).toMatchObject({ hot: expect.stringMatching(/^bcrt1q/) })
    const words = join(folder, 'words')
    writeFileSync(words, `${String(created.lines[0]?.['words'])}\n`)
    const restored = { SWAPYARD_KEYSTORE: join(folder, 'restored.json') }
    expect(await swapyard(['keystore', 'create', '--from-words', words], restored)).toMatchObject({
      code: 0,
      lines: [{ restored: true }],
    })
    expect((await swapyard(['keystore', 'addresses'], restored)).lines).toEqual(lines)
  })

  test('exports public keys, and starts no worker with them', async () => {
    const publicKeysFile = join(folder, 'public.json')
    const env = { SWAPYARD_KEYSTORE: publicKeysFile }
    expect(await swapyard(['keystore', 'export-public', publicKeysFile])).toMatchObject({
      code: 0,
      lines: [{ file: publicKeysFile }],
    })
    expect((await swapyard(['keystore', 'addresses'], env)).lines).toEqual(
      (await swapyard(['keystore', 'addresses'])).lines,
    )
    for (const role of ['worker', 'all']) {
      const { code, error } = await swapyard(['start', '--sandbox', '--role', role], env)
      expect([code, error]).toEqual([1, expect.stringContaining('public keys only: start with --role api')])
    }
  })

  test('requires a reason to release the hold after a restore', async () => {
    expect(await swapyard(['pause', 'payouts:all', '--reason', 'as the signer does'])).toMatchObject({ code: 0 })
    expect(await swapyard(['signer', 'missing'])).toMatchObject({ code: 0, lines: [] })
    expect(await swapyard(['signer', 'import'])).toMatchObject({ code: 0, lines: [{ imported: [] }] })
    expect((await swapyard(['signer', 'release'])).code).toBe(2)
    expect(await swapyard(['signer', 'release', '--reason', 'looked at every transaction'])).toMatchObject({
      code: 0,
      lines: [{ released: true, settled: 0, stillPaused: [{ scope: 'payouts:all', reason: 'as the signer does' }] }],
    })
    expect(await swapyard(['resume', 'payouts:all'])).toMatchObject({ code: 0 })
  })

  test('adds a partner, shows its key once, and lists it without the secret', async () => {
    expect(await swapyard(['partners', 'add', 'acme', '--fee-bps', '25', '--strict'])).toMatchObject({
      code: 0,
      lines: [{ name: 'acme' }],
    })
    const { lines } = await swapyard([
      'partners',
      'keys',
      'add',
      'acme',
      '--ip',
      '192.0.2.1',
      '2001:db8::/32',
      '--scopes',
      'rates:read,exchange:read',
      '--lifetime-days',
      '90',
    ])
    const key = String(lines[0]?.['key'])
    expect(key).toMatch(/^sy_test_/)
    const recipient = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'
    await swapyard(['partners', 'recipient', 'acme', 'eth@eth', recipient])
    const listed = await swapyard(['partners', 'list'])
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
    expect(listed.lines).toEqual([
      expect.objectContaining({
        name: 'acme',
        feeBps: 25,
        strict: true,
        recipients: [{ currency: 'eth@eth', address: recipient, memo: null }],
        keys: [
          {
            keyId: key.slice(8, 16),
            scopes: ['rates:read', 'exchange:read'],
            ipAllowList: ['192.0.2.1/32', '2001:db8::/32'],
            origins: null,
            createdBy: userInfo().username,
            expiresAt: expect.stringContaining(inDays(90)),
            revoked: false,
            lastUsedAt: null,
          },
        ],
      }),
    ])
    expect(JSON.stringify(listed.lines)).not.toContain(key.split('_')[3])
    const rotated = await swapyard(['partners', 'keys', 'rotate', key.slice(8, 16), '--overlap-hours', '1'])
    expect(String(rotated.lines[0]?.['key']).slice(0, 16)).toBe(key.slice(0, 16))
    expect(String(rotated.lines[0]?.['key'])).not.toBe(key)
    const page = ['--publishable', '--origin', 'http://wallet.example']
    const { lines: added } = await swapyard(['partners', 'keys', 'add', 'acme', ...page])
    expect(String(added[0]?.['key'])).toMatch(/^pk_test_/)
    const again = await swapyard(['partners', 'keys', 'rotate', String(added[0]?.['keyId'])])
    expect(again.code).not.toBe(0)
    expect(again.error).toContain('is publishable')
    expect(await swapyard(['partners', 'suspend', 'acme'])).toMatchObject({ code: 0 })
    expect(await swapyard(['partners', 'keys', 'revoke', key.slice(8, 16)])).toMatchObject({ code: 0 })
  })

  test('sets the fee address of a partner', async () => {
    await swapyard(['partners', 'add', 'referrer'])
    const set = (network: string, address: string) =>
      swapyard(['partners', 'fee-address', 'referrer', network, address])
    const address = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'
    expect(await set('ERC20', address)).toMatchObject({ code: 0, lines: [{ network: 'eth', feeAddress: address }] })
    expect(await set('eth', 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu')).toMatchObject({ code: 1 })
    expect(await set('btc', address)).toMatchObject({
      code: 1,
      error: expect.stringContaining('swaps are not available on btc'),
    })
    const suiAddress = `0x${'Ab'.repeat(32)}`
    expect(await set('sui', suiAddress)).toMatchObject({ code: 0, lines: [{ feeAddress: suiAddress.toLowerCase() }] })
    expect(await set('sui', address)).toMatchObject({ code: 1 })
    expect(await set('eth', 'none')).toMatchObject({ code: 0, lines: [{ feeAddress: null }] })
    expect(await set('eth', 'none')).toMatchObject({ code: 1 })
  })

  test('switches off the form for refund addresses on a partner’s tracking pages, and on again', async () => {
    const readSetting = async () => {
      const { lines } = await swapyard(['partners', 'list'])
      return lines.find((line) => line['name'] === 'delta')?.['refundByLink']
    }
    await swapyard(['partners', 'add', 'delta'])
    expect(await readSetting()).toBe(true)
    expect(await swapyard(['partners', 'set', 'delta', '--no-refund-by-link'])).toMatchObject({ code: 0 })
    expect(await swapyard(['partners', 'set', 'delta', '--strict'])).toMatchObject({ code: 0 })
    expect(await readSetting()).toBe(false)
    expect(await swapyard(['partners', 'set', 'delta', '--refund-by-link'])).toMatchObject({ code: 0 })
    expect(await readSetting()).toBe(true)
  })

  test('sets a monthly payout for a partner with a recipient of the currency, and ends it', async () => {
    await swapyard(['partners', 'add', 'monthly'])
    const set = (...rest: string[]) =>
      swapyard(['partners', 'monthly-payout', 'monthly', ...rest, '--reason', 'contract'])
    expect(await set('eth@eth', '0.5')).toMatchObject({
      code: 1,
      error: expect.stringContaining('recipient for eth@eth'),
    })
    const database = openDatabase(url, { max: 1, applicationName: 'test' })
    await database.query(
      "insert into default_recipients (partner_id, asset_id, address) select id, 'eth@eth', '0x1' from partners where name = 'monthly'",
    )
    expect(await set('ETH@erc20', '0.5')).toMatchObject({ code: 0, lines: [{ currency: 'eth@eth', minimum: '0.5' }] })
    const read = () => database.query('select asset_id, minimum, converts_others from monthly_payout_settings')
    const stored = { asset_id: 'eth@eth', minimum: '500000000000000000' }
    expect(await read()).toEqual([{ ...stored, converts_others: false }])
    expect(await set('eth@eth', '0.5', '--convert-others')).toMatchObject({ code: 0, lines: [{ convertOthers: true }] })
    expect(await read()).toEqual([{ ...stored, converts_others: true }])
    for (const wrong of ['0', '-1', '0.0000000000000000001', 'much'])
      expect((await set('eth@eth', wrong)).code).not.toBe(0)
    expect(await set('eth@eth', 'none')).toMatchObject({ code: 0, lines: [{ minimum: null }] })
    expect([await read(), (await set('eth@eth', 'none')).code]).toEqual([[], 1])
    await database.close()
  })

  test('a new key can do everything but set fee addresses, unless the operator names that scope', async () => {
    expect((await swapyard(['partners', 'add', 'scoped'])).code).toBe(0)
    const database = openDatabase(url, { max: 1, applicationName: 'test' })
    const scopesOf = async (...options: string[]) => {
      const { lines } = await swapyard(['partners', 'keys', 'add', 'scoped', ...options])
      const keyId = (lines as { keyId: string }[])[0]?.keyId
      const [row] = await database.query<{ scopes: string[] }>('select scopes from api_keys where id = $1', [keyId])
      return row?.scopes
    }
    expect(await scopesOf()).toEqual([
      ...[
        'rates:read',
        'exchange:read',
        'exchange:create',
        'defi:build',
        'defi:send',
        'partner:read',
        'webhooks:manage',
      ],
    ])
    expect(await scopesOf('--scopes', 'fees:manage')).toEqual(['fees:manage'])
    await database.close()
  })

  test('changes only the named settings of a partner and a key', async () => {
    await swapyard(['partners', 'add', 'beta', '--fee-bps', '5'])
    const change = ['--fee-bps', '30', '--rate-limit', '12000', '--strict']
    expect(await swapyard(['partners', 'set', 'beta', ...change])).toMatchObject({ code: 0 })
    expect(await swapyard(['partners', 'set', 'beta', '--no-strict', '--open-exchanges-max', '7'])).toMatchObject({
      code: 0,
    })
    const { lines } = await swapyard(['partners', 'keys', 'add', 'beta', '--scopes', 'rates:read'])
    const keyId = String(lines[0]?.['keyId'])
    const set = ['partners', 'keys', 'set', keyId]
    expect(await swapyard([...set, '--ip', '192.0.2.1', '--scopes', 'rates:read,exchange:read'])).toMatchObject({
      lines: [{ keyId, scopes: ['rates:read', 'exchange:read'], ipAllowList: ['192.0.2.1/32'] }],
    })
    const database = openDatabase(url, { max: 1, applicationName: 'test' })
    const rows = () =>
      database.query(
        'select fee_bps, rate_limit_per_minute, open_exchanges_max, strict, scopes, ip_allow_list from partners p join api_keys k on k.partner_id = p.id where k.id = $1',
        [keyId],
      )
    const changed = { fee_bps: 30, rate_limit_per_minute: 12_000, open_exchanges_max: 7, strict: false }
    const scopes = ['rates:read', 'exchange:read']
    expect(await rows()).toEqual([{ ...changed, scopes, ip_allow_list: ['192.0.2.1/32'] }])
    expect(await swapyard([...set, '--any-ip'])).toMatchObject({ code: 0 })
    expect(await rows()).toEqual([{ ...changed, scopes, ip_allow_list: [] }])
    await database.close()
  })

  test('rejects a recipient that is not an address of its network, or that is ours', async () => {
    await swapyard(['partners', 'add', 'payee'])
    const set = (currency: string, address: string) => swapyard(['partners', 'recipient', 'payee', currency, address])
    expect(await set('eth@eth', '0x9858EfFD232B4033E47d90003D41EC34EcaEda94')).toMatchObject({
      code: 0,
      lines: [{ currency: 'eth@eth' }],
    })
    // One letter in the wrong case: EIP-55 detects it.
    expect(await set('eth@eth', '0x9858EfFD232B4033E47d90003D41EC34EcaEdA94')).toMatchObject({
      code: 1,
      error: expect.stringContaining('is not an address of eth'),
    })
    expect(await set('btc@btc', 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu')).toMatchObject({
      code: 1,
      error: expect.stringContaining('is not an address of btc'),
    })
    // The command accepts the same aliases as requests of partners.
    expect(await set('ETH@erc20', '0x9858EfFD232B4033E47d90003D41EC34EcaEda94')).toMatchObject({
      code: 0,
      lines: [{ currency: 'eth@eth' }],
    })
    expect(await set('nothing@eth', '0x9858EfFD232B4033E47d90003D41EC34EcaEda94')).toMatchObject({
      code: 1,
      error: expect.stringContaining('is not a listed currency'),
    })
    const { lines } = await swapyard(['keystore', 'addresses'])
    const ours = lines.find(({ network }) => network === 'eth')
    // A worker registered the address for one network. Its key has the same address on every EVM network.
    const database = openDatabase(url, { max: 1, applicationName: 'test' })
    await database.query("insert into house_addresses values ('eth', $1, 'change', 1)", [ours?.['firstDeposit']])
    await database.close()
    for (const address of [ours?.['hot'], ours?.['firstDeposit']]) {
      expect(await set('usdc@base', String(address))).toMatchObject({
        code: 1,
        error: expect.stringContaining('is an address of this service'),
      })
    }
  })

  test.each([
    [['partners', 'suspend', 'unknown'], 'no partner unknown'],
    [['partners', 'add', 'acme'], 'partner acme already exists'],
    [['partners', 'add', ''], 'a name has 1 to 64 letters'],
    [['partners', 'set', 'acme'], 'nothing to change'],
    [['partners', 'set', 'unknown', '--strict'], 'no partner unknown'],
    [['partners', 'keys', 'set', 'nothing', '--any-ip'], 'there is no active key'],
    [['partners', 'keys', 'add', 'acme', '--ip', '300.1.1.1'], 'is not an IP address'],
    [['partners', 'keys', 'add', 'acme', '--scopes', 'everything'], 'unknown scopes: everything'],
    [['partners', 'keys', 'revoke', 'nothing'], 'there is no active key'],
    [['pause', 'everything', '--reason', 'x'], 'the scope is'],
    [['pause', 'dex:nowhere@base', '--reason', 'x'], 'there is no DEX nowhere'],
    [['pause', 'dex:sushiswap-v2@btc', '--reason', 'x'], 'names no network of swaps'],
    [['pause', 'token:0x12@base', '--reason', 'x'], 'is not the address of a token'],
    [
      ['pause', 'token:epjfwdd5aufqssqem2qn1xzybapc8g4weggkzwytdt1v@sol', '--reason', 'x'],
      'is not the address of a token of sol',
    ],
    [['pause', 'pool:usdc@base', '--reason', 'x'], 'no address or id of a pool'],
    [['pause', 'network:bct', '--reason', 'x'], 'there is no network bct; the networks are '],
    [['pause', 'payouts:bct', '--reason', 'x'], 'there is no network bct; the networks are '],
    [['pause', 'asset:usdt@et', '--reason', 'x'], 'usdt@et is not a listed currency'],
    [['pause', 'partner:unknown', '--reason', 'x'], 'there is no partner unknown'],
    [['resume', 'network:bct'], 'there is no network bct'],
    [['exchanges', 'release', '00000000-0000-7000-8000-000000000000'], 'no held execution'],
    [['exchanges', 'set-refund', 'x', 'y'], 'no held execution'],
    [['exchanges', 'show', 'x'], 'there is no exchange x'],
    [['exchanges', 'show', '00000000-0000-7000-8000-000000000000'], 'there is no exchange 0'],
    [['payouts', 'release', 'x', '--reason', 'a test'], 'no payout x'],
    [['payouts', 'conflict', 'x', '--spent-by', 'a'.repeat(64), '--reason', 'a test'], 'transaction x is settled'],
    [['fundings', 'claim', '7', '--reason', 'a test'], 'deposit 7 is not unclaimed'],
  ])('%j fails with one sentence', async (args, sentence) => {
    const { code, error } = await swapyard(args)
    expect(code).toBe(1)
    expect(error).toContain(sentence)
    expect(error.trim().split('\n')).toHaveLength(1)
  })

  test.each(['5000', '-1', '1.5'])('rejects a fee of %s basis points', async (fee) => {
    const { code, error } = await swapyard(['partners', 'add', 'dear', `--fee-bps=${fee}`])
    expect([code, error]).toEqual([2, expect.stringMatching(/--fee-bps.* must be (from 0 to 1000|a whole number)/)])
    expect(error).not.toContain('partners_fee_bps_check')
  })

  test('pauses and resumes a network', async () => {
    expect(await swapyard(['pause', 'network:btc', '--reason', 'a test'])).toMatchObject({
      code: 0,
      lines: [{ scope: 'network:btc', paused: true }],
    })
    expect(await swapyard(['resume', 'network:btc'])).toMatchObject({ code: 0, lines: [{ paused: false }] })
    expect(await swapyard(['wallets'])).toMatchObject({ code: 0, lines: [] })
  })

  test.each([
    ['network:Bitcoin', 'network:btc'],
    ['asset:USDT@erc20', 'asset:usdt@eth'],
    ['dex:SushiSwap-V2@arb1', 'dex:sushiswap-v2@arbitrum'],
    [`token:0x${'AB'.repeat(20)}@base`, `token:0x${'ab'.repeat(20)}@base`],
    [`pool:0x${'AB'.repeat(32)}@base`, `pool:0x${'ab'.repeat(32)}@base`],
    [
      'token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v@Sol',
      'token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v@sol',
    ],
    ['pool:58oQChx4yWmvKdwLLZzBi4ChoCc2fqCUWBkwMihLYQo2@sol', 'pool:58oQChx4yWmvKdwLLZzBi4ChoCc2fqCUWBkwMihLYQo2@sol'],
    [`token:0x${'0'.repeat(63)}2::sui::SUI@sui`, 'token:0x2::sui::SUI@sui'],
    [`pool:0x${'AB'.repeat(32)}@sui`, `pool:0x${'ab'.repeat(32)}@sui`],
  ])('pauses %s as scope %s', async (named, scope) => {
    expect((await swapyard(['pause', named, '--reason', 'a test'])).lines).toEqual([{ scope, paused: true }])
    expect((await swapyard(['resume', named])).lines).toEqual([{ scope, paused: false }])
  })

  test('resuming payouts acknowledges what the operator states as missing on their network, in the answer and in the audit log', async () => {
    const database = openDatabase(url, { max: 1, applicationName: 'test' })
    const { alarms, pauses } = createStore(database)
    await alarms.raise('difference:usdt@eth', 'ledger and chain differ', { difference: '-7', held: '1' })
    await alarms.raise('difference:usdc@eth', 'ledger and chain differ', { difference: '5', held: '6' })
    await alarms.raise('difference:btc@btc', 'ledger and chain differ', { difference: '-3', held: '1' })
    await alarms.raise('unswept:eth:0xaddress:dai@eth', 'a deposit address holds less', { missing: '2' })
    // Without a pause there is nothing that the operator looked at.
    expect(await swapyard(['resume', 'payouts:eth'])).toMatchObject({
      ...{ code: 1, error: expect.stringContaining('payouts:eth is not paused') },
    })
    await pauses.pause('payouts:eth', 'ledger and chain differ', 'reconciler')
    const resume = (...missing: string[]) =>
      swapyard([
        'resume',
        'payouts:eth',
        '--reason',
        'found them',
        ...(missing.length > 0 ? ['--missing', ...missing] : []),
      ])
    const isPaused = async () => (await pauses.list()).some(({ scope }) => scope === 'payouts:eth')
    // Neither stated nor looked at, or lost since.
    const statement = '--missing difference:usdt@eth=7 unswept:eth:0xaddress:dai@eth=2'
    expect(await resume()).toMatchObject({ code: 1, error: expect.stringContaining(statement) })
    expect(await resume('difference:usdt@eth=6', 'unswept:eth:0xaddress:dai@eth=2')).toMatchObject({
      code: 1,
      error: expect.stringMatching(/--missing difference:usdt@eth=7$/m),
    })
    expect(await resume('difference:usdt@eth')).toMatchObject({ code: 1, error: expect.stringContaining('base units') })
    expect(await database.query("select 1 from alarms where detail ? 'acknowledged'")).toEqual([])
    expect(await isPaused()).toBe(true)
    // Less is missing than was stated: what is missing is acknowledged.
    const { lines } = await resume('difference:usdt@eth=9', 'unswept:eth:0xaddress:dai@eth=2')
    expect(await isPaused()).toBe(false)
    const acknowledged = [
      { subject: 'difference:usdt@eth', units: '7' },
      { subject: 'unswept:eth:0xaddress:dai@eth', units: '2' },
    ]
    expect(lines).toEqual([{ scope: 'payouts:eth', paused: false, acknowledged: expect.arrayContaining(acknowledged) }])
    expect(lines[0]?.['acknowledged']).toHaveLength(2)
    expect((await swapyard(['audit', 'list', '--limit', '1'])).lines).toMatchObject([
      {
        act: 'resume',
        subject: 'payouts:eth',
        reason: 'found them',
        detail: { acknowledged: lines[0]?.['acknowledged'] },
        before: { reason: 'ledger and chain differ' },
        after: null,
      },
    ])
    expect(await database.query("select 1 from alarms where detail ? 'acknowledged'")).toHaveLength(2)
    // After a pause for another reason, what was acknowledged need not be stated again.
    await pauses.pause('payouts:eth', 'maintenance', 'cli')
    expect(await resume()).toMatchObject({ code: 0, lines: [{ acknowledged: expect.arrayContaining(acknowledged) }] })
    await database.query('delete from alarms')
    await database.close()
  })

  test('pauses a partner by its name, shows it, and resumes it by its id', async () => {
    const { lines } = await swapyard(['partners', 'add', 'held partner'])
    expect(lines).toMatchObject([{ next: "swapyard partners keys add 'held partner'" }])
    const scope = `partner:${String(lines[0]?.['id'])}`
    expect((await swapyard(['pause', 'partner:held partner', '--reason', 'x'])).lines).toEqual([
      { scope, paused: true },
    ])
    expect((await swapyard(['pauses'])).lines).toContainEqual(
      expect.objectContaining({ scope, reason: 'x', actor: userInfo().username }),
    )
    expect((await swapyard(['resume', scope])).lines).toEqual([{ scope, paused: false }])
  })

  test('exits with code 2 in production without a config, and lists the missing settings', async () => {
    const { code, error } = await swapyard(['start', '--role', 'api'])
    expect(code).toBe(2)
    for (const name of ['SWAPYARD_CONFIG', 'DATABASE_URL', 'SWAPYARD_PEPPER']) expect(error).toContain(name)
    expect(await swapyard(['config', 'check'])).toMatchObject({ code: 2, lines: [], error })
    expect(await swapyard(['config', 'check', '--sandbox'])).toMatchObject({
      code: 0,
      lines: [{ environment: 'sandbox', problems: 0 }],
    })
    expect(await swapyard(['start', '--role', 'everything'])).toMatchObject({ code: 2 })
    expect(await swapyard(['wallets'], { SWAPYARD_DATA_DIRR: 'x' })).toMatchObject({
      code: 2,
      error: expect.stringContaining('SWAPYARD_DATA_DIR'),
    })
  })

  test('uses the embedded database of a running service, and starts it if none runs', async () => {
    const dataDir = join(folder, 'alone')
    const env = { DATABASE_URL: '', SWAPYARD_DATA_DIR: dataDir }
    expect(await swapyard(['partners', 'add', 'first'], env)).toMatchObject({ code: 0 })
    const lock = lockFolder(dataDir)
    const postgres = await startPostgres({ dataDir })
    try {
      expect(await swapyard(['partners', 'add', 'second'], env)).toMatchObject({ code: 0 })
      const { lines } = await swapyard(['partners', 'list'], env)
      expect(lines.map(({ name }) => name)).toEqual(['first', 'second'])
    } finally {
      await postgres.stop()
      lock.release()
    }
  })
})

// M25: indexes have gaps of any size, and a wallet program stops looking after twenty unused addresses.
test('M25: lists the key indexes of addresses with coins, and with --all of every address', async () => {
  const list = async (...args: string[]) =>
    (await swapyard(['keystore', 'indexes', ...args])).lines.filter(({ branch }) => branch === 'deposit')
  expect(await list()).toEqual([])
  const database = openDatabase(url, { max: 1 })
  const [paid, unpaid] = [randomUUID(), randomUUID()]
  await database.query(
    `insert into exchanges (id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units, to_units, partner_fee_bps, expires_at)
     select id, id, 'standard', 'standard', 'btc', 'btc', 'eth', 'eth', '[]', 1, 1, 0, now() from unnest($1::uuid[]) id`,
    [[paid, unpaid]],
  )
  await database.query(
    "insert into deposit_targets (exchange_id, leg, network, address, key_index) values ($1, 0, 'btc', 'paid', 7000000), ($2, 0, 'btc', 'unpaid', 7000001)",
    [paid, unpaid],
  )
  await database.query(
    "insert into deposits (network, identity, tx_hash, exchange_id, leg, address, key_index, asset_id, units, required_confirmations) values ('btc', 'a:0', 'a', $1, 0, 'paid', 7000000, 'btc@btc', 5, 2)",
    [paid],
  )
  await database.close()
  const key = { network: 'btc', branch: 'deposit' }
  expect(await list()).toEqual([{ ...key, index: 7_000_000, address: 'paid' }])
  expect(await list('--all')).toHaveLength(2)
})
