import { NETWORK, p2tr, p2wpkh, Transaction, WIF } from '@scure/btc-signer'
import { pubECDSA, pubSchnorr } from '@scure/btc-signer/utils.js'
import { RpcError } from '@swapyard/lib/json-rpc.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../test/support/describe-with.ts'
import type { JsonRpc } from '../src/json-rpc.ts'
import { type RunningSandbox, runSandbox, temporaryFolder } from './running-sandbox.ts'

// Litecoin Core is the oracle: it has Bitcoin Core 0.21's RPC, and bcoin's wrapper has to answer the same.

describeWith('litecoind', 'bcoin and Litecoin Core', () => {
  const folder = temporaryFolder()
  let sandbox: RunningSandbox

  beforeAll(async () => {
    sandbox = await runSandbox(folder.path, 'btc,ltc')
    for (const network of ['btc', 'ltc']) await sandbox.post('/mining', { network, paused: true })
  })
  afterAll(async () => {
    await sandbox?.stop()
    folder.remove()
  })

  type Outcome = { code: number; message: string } | { result: unknown }
  const attempt = async (rpc: JsonRpc, method: string, params: readonly unknown[]): Promise<Outcome> =>
    rpc.call(method, params).then(
      (result) => ({ result }),
      (error: unknown) => {
        if (!(error instanceof RpcError)) throw error
        return { code: error.code, message: error.message.replace(/^[a-z]+: /, '').replace(/ \(-\d+\)$/, '') }
      },
    )

  const nobody = 'ab'.repeat(32)
  const oddCalls: [string, unknown[]][] = [
    ['getblockhash', [-1]],
    ['getblockhash', [99999999]],
    ['getblockhash', ['1']],
    ['getblock', [nobody]],
    ['getblock', ['zz']],
    ['getblock', ['g'.repeat(64)]],
    ['getblockheader', [nobody]],
    ['getblockheader', [7]],
    ['getrawtransaction', [nobody, true]],
    ['getrawtransaction', ['zz']],
    ['getmempoolentry', [nobody]],
    ['gettxout', [nobody, 0]],
    ['sendrawtransaction', ['00']],
    ['sendrawtransaction', ['zz']],
    ['invalidateblock', [nobody]],
    ['reconsiderblock', [nobody]],
    ['nosuchmethod', []],
    ['estimatesmartfee', [2]],
  ]

  test.each(oddCalls)('%s %j is answered alike', async (method, params) => {
    const [ours, theirs] = await Promise.all(
      ['btc', 'ltc'].map((network) => attempt(sandbox.rpc(network), method, params)),
    )
    if (method === 'estimatesmartfee')
      expect(ours).toHaveProperty('result.errors', (theirs as { result: { errors: string[] } }).result.errors)
    else expect(ours).toEqual(theirs)
  })

  /** Fields that only Litecoin has, or that Bitcoin Core gave up with 22.0. */
  const notOurs = new Set([
    'ismweb',
    'addresses',
    'reqSigs',
    'fee',
    'modifiedfee',
    'ancestorfees',
    'descendantfees',
    'mwebweight',
    'ancestormwebweight',
    'descendantmwebweight',
  ])

  function shape(value: unknown, path = ''): string[] {
    if (Array.isArray(value)) return [...new Set(value.flatMap((one) => shape(one, `${path}[]`)))]
    if (typeof value !== 'object' || value === null)
      return [`${path}: ${typeof value === 'string' && /^\d+\.\d{8}$/.test(value) ? 'number' : typeof value}`]
    return Object.entries(value).flatMap(([key, one]) => (notOurs.has(key) ? [] : shape(one, `${path}.${key}`)))
  }

  test('blocks, headers, transactions and outputs have the same fields', async () => {
    const answers = await Promise.all(
      ['btc', 'ltc'].map(async (network) => {
        const rpc = sandbox.rpc(network)
        const { body } = await sandbox.post('/wallets', { network })
        const hash = (
          await sandbox.post('/deposits', { network, currency: 'native', address: body['address'], amount: '1' })
        ).body['hash']
        const waiting = await rpc.call('getmempoolentry', [hash])
        const unmined = await rpc.call('getrawtransaction', [hash, true])
        const block = (await sandbox.post('/blocks', { network, count: 1 })).body['hash']
        return {
          waiting,
          unmined,
          mined: await rpc.call('getrawtransaction', [hash, true]),
          ids: await rpc.call('getblock', [block, 1]),
          full: await rpc.call('getblock', [block, 2]),
          header: await rpc.call('getblockheader', [block]),
          rawBlock: await rpc.call('getblock', [block, 0]),
          rawHeader: await rpc.call('getblockheader', [block, false]),
          output: await rpc.call('gettxout', [hash, 0]),
          scan: await rpc.call('scantxoutset', ['start', [`addr(${body['address']})`]]),
          mempool: await rpc.call('getrawmempool'),
        }
      }),
    )
    const [ours = [], theirs = []] = answers.map((one) => shape(one))
    expect(theirs.filter((line) => !ours.includes(line))).toEqual([])
  })

  /** An outside wallet with one confirmed coin of 1, and a way to make transactions from it. */
  async function openWallet(network: string) {
    const parameters = {
      ...NETWORK,
      bech32: network === 'btc' ? 'bcrt' : 'rltc',
      pubKeyHash: 0x6f,
      scriptHash: 0xc4,
      wif: 0xef,
    }
    const { body } = await sandbox.post('/wallets', { network })
    const key = WIF(parameters).decode(body['privateKey'] as string)
    const own = p2wpkh(pubECDSA(key), parameters)
    const fund = async (): Promise<{ txid: string; index: number }> => {
      const txid = (await sandbox.post('/deposits', { network, currency: 'native', address: own.address, amount: '1' }))
        .body['hash'] as string
      await sandbox.post('/blocks', { network, count: 1 })
      const tx = (await sandbox.rpc(network).call('getrawtransaction', [txid, true])) as {
        vout: { n: number; scriptPubKey: { hex: string } }[]
      }
      return {
        txid,
        index: tx.vout.find((one) => one.scriptPubKey.hex === Buffer.from(own.script).toString('hex'))?.n ?? 0,
      }
    }
    const spend = (
      coin: { txid: string; index: number },
      amounts: readonly bigint[],
      sequence = 0xffffffff,
      units = 100_000_000n,
      script = own.script,
    ) => {
      const tx = new Transaction({ allowUnknownOutputs: true })
      tx.addInput({ ...coin, sequence, witnessUtxo: { script: own.script, amount: units } })
      for (const amount of amounts) tx.addOutput({ script, amount })
      tx.sign(key)
      tx.finalize()
      return tx
    }
    return { fund, spend, taproot: p2tr(pubSchnorr(key), undefined, parameters).script }
  }

  test('transactions are taken and refused alike', async () => {
    const scripts = await Promise.all(
      ['btc', 'ltc'].map(async (network) => {
        const rpc = sandbox.rpc(network)
        const { fund, spend, taproot } = await openWallet(network)
        const outcomes: Record<string, unknown> = {}
        const offer = async (name: string, hex: string) => {
          const tested = (
            (await rpc.call('testmempoolaccept', [[hex]])) as { allowed: boolean; 'reject-reason'?: string }[]
          )[0]
          const outcome = await attempt(rpc, 'sendrawtransaction', [hex])
          // Ids and sizes differ between two chains; the first words are the reason.
          const message = 'message' in outcome ? outcome.message.replace(/[0-9a-f]{64}.*/, '').replace(/, .*/, '') : ''
          outcomes[name] =
            'code' in outcome
              ? { code: outcome.code, message, tested: tested?.allowed }
              : { taken: true, tested: tested?.allowed }
        }
        const coin = await fund()
        await offer('unknown input', spend({ txid: nobody, index: 0 }, [50_000n]).hex)
        await offer('more than it has', spend(coin, [100_000_001n], 0xffffffff, 100_000_001n).hex)
        await offer('dust', spend(coin, [99_000_000n, 200n]).hex)
        await offer('no fee', spend(coin, [100_000_000n]).hex)
        await offer('too little fee', spend(coin, [99_999_990n]).hex)
        await offer('absurd fee', spend(coin, [50_000_000n]).hex)
        await offer('signature over another amount', spend(coin, [99_990_000n], 0xffffffff, 99_999_999n).hex)
        const final = spend(coin, [99_990_000n])
        await offer('good', final.hex)
        expect(await rpc.call('sendrawtransaction', [final.hex])).toBe(final.id)
        await offer('conflict with a final one', spend(coin, [99_900_000n]).hex)
        await sandbox.post('/blocks', { network, count: 1 })
        await offer('already mined', final.hex)
        await offer('spends what is spent', spend(coin, [99_980_000n]).hex)

        const second = await fund()
        const replaceable = spend(second, [99_990_000n], 0xfffffffd)
        await offer('replaceable', replaceable.hex)
        const child = spend({ txid: replaceable.id, index: 0 }, [99_980_000n], 0xffffffff, 99_990_000n)
        await offer('its child', child.hex)
        await offer('replacement without more fee', spend(second, [99_989_999n], 0xfffffffd).hex)
        const replacement = spend(second, [99_900_000n], 0xfffffffd)
        await offer('replacement', replacement.hex)
        outcomes['only the replacement waits'] = String(await rpc.call('getrawmempool')) === replacement.id
        await offer('the replaced one again', replaceable.hex)
        await sandbox.post('/blocks', { network, count: 1 })

        const third = await fund()
        await offer(
          'payment to a taproot address',
          spend(await fund(), [99_990_000n], 0xffffffff, 100_000_000n, taproot).hex,
        )
        let chain = spend(third, [99_990_000n])
        for (let depth = 1, left = 99_990_000n; depth <= 27; depth++, left -= 10_000n) {
          await offer(`unconfirmed chain of ${depth}`, chain.hex)
          chain = spend({ txid: chain.id, index: 0 }, [left - 10_000n], 0xffffffff, left)
        }
        return outcomes
      }),
    )
    expect(scripts[0]).toEqual(scripts[1])
  })
})
