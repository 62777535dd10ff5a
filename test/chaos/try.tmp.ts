import { startGround } from './ground.ts'
import { withFleet } from './run.ts'
import { openShop } from './shop.ts'
import { tourOfPoints } from './tour.ts'

const t = Date.now()
const lap = (s: string) => console.log(((Date.now() - t) / 1000).toFixed(1), s)
const ground = await startGround(['btc', 'eth'])
lap('ground ' + ground.folder)
try {
  await withFleet(ground, { apis: 2, workers: 2 }, async ({ fleet, client, customers, findings }) => {
    lap('started')
    const shop = await openShop(client, customers, { everyMs: 1500 })
    console.log(await tourOfPoints(fleet))
    lap('toured')
    await shop.close()
    console.log(shop.refused(), customers.purchases.length)
    const f = await findings()
    lap('judged')
    for (const [k, v] of Object.entries(f)) console.log(k, v.length, v.slice(0, 5))
    for (const p of fleet.all) console.log(p.takeCrashes())
    const q = async (s: string) =>
      console.log(s.slice(0, 90), JSON.stringify(await fleet.database.query(s)).slice(0, 3000))
    await q('select * from cursors')
    await q('select * from pauses')
    await q('select * from alarms')
    await q('select state,purpose,network,count(*) from payouts group by 1,2,3')
    await q('select network,state,count(*) from transactions group by 1,2')
    await q(
      "select e.id,e.status,e.next_check_at, clock_timestamp(), (select count(*) from deposits d where d.exchange_id=e.id) d from exchanges e where status not in ('finished','refunded','failed') limit 10",
    )
    await q('select task_id, key, attempts, locked_at, run_at, last_error from graphile_worker._private_jobs limit 20')
    console.log(
      await ground.call('btc', 'getblockcount'),
      await ground.call('eth', 'eth_blockNumber'),
      (await ground.call('btc', 'getrawmempool')).length,
      await ground.call('eth', 'txpool_status'),
    )
  })
} catch (e) {
  console.error(e)
}
await ground.stop()
lap('ground stopped')
process.exit()
