import { NETWORK, p2tr, p2wpkh, Transaction, WIF } from '@scure/btc-signer'
import { pubECDSA, pubSchnorr } from '@scure/btc-signer/utils.js'
import { RpcError } from '@swapyard/lib/json-rpc.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../test/support/describe-with.ts'
import type { JsonRpc } from '../src/json-rpc.ts'
import { type RunningSandbox, runSandbox, temporaryFolder } from './running-sandbox.ts'

// Litecoin Core is the reference, because it has Bitcoin Core 0.21's RPC. The bcoin wrapper must return the same answers.

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

  const unknownHash = 'ab'.repeat(32)
  const edgeCaseCalls: [string, unknown[]][] = [
    ['getblockhash', [-1]],
    ['getblockhash', [99999999]],
    ['getblockhash', ['1']],
    ['getblock', [unknownHash]],
    ['getblock', ['zz']],
    ['getblock', ['g'.repeat(64)]],
    ['getblockheader', [unknownHash]],
    ['getblockheader', [7]],
    ['getrawtransaction', [unknownHash, true]],
    ['getrawtransaction', ['zz']],
    ['getmempoolentry', [unknownHash]],
    ['gettxout', [unknownHash, 0]],
    ['sendrawtransaction', ['00']],
    ['sendrawtransaction', ['zz']],
    ['invalidateblock', [unknownHash]],
    ['reconsiderblock', [unknownHash]],
    ['nosuchmethod', []],
    ['estimatesmartfee', [2]],
  ]

  test.each(edgeCaseCalls)('answers %s %j as litecoind does', async (method, params) => {
    const [bcoin, litecoind] = await Promise.all(
      ['btc', 'ltc'].map((network) => attempt(sandbox.rpc(network), method, params)),
    )
    if (method === 'estimatesmartfee')
      expect(bcoin).toHaveProperty('result.errors', (litecoind as { result: { errors: string[] } }).result.errors)
    else expect(bcoin).toEqual(litecoind)
  })

  /** Fields that only Litecoin Core has, or that Bitcoin Core removed in 22.0. */
  const ignoredFields = new Set([
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

  function listFields(value: unknown, path = ''): string[] {
    if (Array.isArray(value)) return [...new Set(value.flatMap((one) => listFields(one, `${path}[]`)))]
    if (typeof value !== 'object' || value === null)
      return [`${path}: ${typeof value === 'string' && /^\d+\.\d{8}$/.test(value) ? 'number' : typeof value}`]
    return Object.entries(value).flatMap(([key, one]) =>
      ignoredFields.has(key) ? [] : listFields(one, `${path}.${key}`),
    )
  }

  test('returns blocks, headers, transactions and outputs with the fields of litecoind', async () => {
    const answers = await Promise.all(
      ['btc', 'ltc'].map(async (network) => {
        const rpc = sandbox.rpc(network)
        const { body } = await sandbox.post('/wallets', { network })
        const hash = (
          await sandbox.post('/deposits', { network, currency: 'native', address: body['address'], amount: '1' })
        ).body['hash']
        const mempoolEntry = await rpc.call('getmempoolentry', [hash])
        const unmined = await rpc.call('getrawtransaction', [hash, true])
        const block = (await sandbox.post('/blocks', { network, count: 1 })).body['hash']
        return {
          mempoolEntry,
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
    const [bcoin = [], litecoind = []] = answers.map((one) => listFields(one))
    expect(litecoind.filter((line) => !bcoin.includes(line))).toEqual([])
  })

  /** Opens an external wallet. `fund` pays it a confirmed UTXO of 1 BTC or LTC; `spend` builds a transaction from a UTXO. */
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
    const payment = p2wpkh(pubECDSA(key), parameters)
    const fund = async (): Promise<{ txid: string; index: number }> => {
      const txid = (
        await sandbox.post('/deposits', { network, currency: 'native', address: payment.address, amount: '1' })
      ).body['hash'] as string
      await sandbox.post('/blocks', { network, count: 1 })
      const tx = (await sandbox.rpc(network).call('getrawtransaction', [txid, true])) as {
        vout: { n: number; scriptPubKey: { hex: string } }[]
      }
      return {
        txid,
        index: tx.vout.find((one) => one.scriptPubKey.hex === Buffer.from(payment.script).toString('hex'))?.n ?? 0,
      }
    }
    const spend = (
      utxo: { txid: string; index: number },
      amounts: readonly bigint[],
      sequence = 0xffffffff,
      units = 100_000_000n,
      script = payment.script,
    ) => {
      const tx = new Transaction({ allowUnknownOutputs: true })
      tx.addInput({ ...utxo, sequence, witnessUtxo: { script: payment.script, amount: units } })
      for (const amount of amounts) tx.addOutput({ script, amount })
      tx.sign(key)
      tx.finalize()
      return tx
    }
    return { fund, spend, taproot: p2tr(pubSchnorr(key), undefined, parameters).script }
  }

  test('accepts and rejects the same transactions as litecoind', async () => {
    const scripts = await Promise.all(
      ['btc', 'ltc'].map(async (network) => {
        const rpc = sandbox.rpc(network)
        const { fund, spend, taproot } = await openWallet(network)
        const outcomes: Record<string, unknown> = {}
        const submit = async (name: string, hex: string) => {
          const tested = (
            (await rpc.call('testmempoolaccept', [[hex]])) as { allowed: boolean; 'reject-reason'?: string }[]
          )[0]
          const outcome = await attempt(rpc, 'sendrawtransaction', [hex])
          // Ids and sizes differ between the chains; the reason comes first.
          const message = 'message' in outcome ? outcome.message.replace(/[0-9a-f]{64}.*/, '').replace(/, .*/, '') : ''
          outcomes[name] =
            'code' in outcome
              ? { code: outcome.code, message, tested: tested?.allowed }
              : { accepted: true, tested: tested?.allowed }
        }
        const utxo = await fund()
        await submit('unknown input', spend({ txid: unknownHash, index: 0 }, [50_000n]).hex)
        await submit('outputs above inputs', spend(utxo, [100_000_001n], 0xffffffff, 100_000_001n).hex)
        await submit('dust', spend(utxo, [99_000_000n, 200n]).hex)
        await submit('no fee', spend(utxo, [100_000_000n]).hex)
        await submit('too little fee', spend(utxo, [99_999_990n]).hex)
        await submit('absurd fee', spend(utxo, [50_000_000n]).hex)
        await submit('signature over another amount', spend(utxo, [99_990_000n], 0xffffffff, 99_999_999n).hex)
        const final = spend(utxo, [99_990_000n])
        await submit('valid', final.hex)
        expect(await rpc.call('sendrawtransaction', [final.hex])).toBe(final.id)
        await submit('conflict with a final transaction', spend(utxo, [99_900_000n]).hex)
        await sandbox.post('/blocks', { network, count: 1 })
        await submit('already mined', final.hex)
        await submit('spent input', spend(utxo, [99_980_000n]).hex)

        const second = await fund()
        const replaceable = spend(second, [99_990_000n], 0xfffffffd)
        await submit('replaceable', replaceable.hex)
        const child = spend({ txid: replaceable.id, index: 0 }, [99_980_000n], 0xffffffff, 99_990_000n)
        await submit('child of a replaceable transaction', child.hex)
        await submit('replacement without more fee', spend(second, [99_989_999n], 0xfffffffd).hex)
        const replacement = spend(second, [99_900_000n], 0xfffffffd)
        await submit('replacement', replacement.hex)
        outcomes['mempool holds only the replacement'] = String(await rpc.call('getrawmempool')) === replacement.id
        await submit('replaced transaction again', replaceable.hex)
        await sandbox.post('/blocks', { network, count: 1 })

        const third = await fund()
        await submit(
          'payment to a taproot address',
          spend(await fund(), [99_990_000n], 0xffffffff, 100_000_000n, taproot).hex,
        )
        let chain = spend(third, [99_990_000n])
        for (let depth = 1, remaining = 99_990_000n; depth <= 27; depth++, remaining -= 10_000n) {
          await submit(`unconfirmed chain of ${depth}`, chain.hex)
          chain = spend({ txid: chain.id, index: 0 }, [remaining - 10_000n], 0xffffffff, remaining)
        }
        return outcomes
      }),
    )
    expect(scripts[0]).toEqual(scripts[1])
  })
})
