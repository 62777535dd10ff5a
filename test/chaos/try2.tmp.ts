import { startGround } from './ground.ts'
import { withFleet } from './run.ts'
import { openShop } from './shop.ts'
import { badWeather, storm } from './storm.ts'

const t = Date.now()
const lap = (s: string) => console.log(((Date.now() - t) / 1000).toFixed(1), s)
const ground = await startGround(['btc', 'eth'])
lap('ground ' + ground.folder)
try {
  await withFleet(ground, { apis: 2, workers: 3 }, async ({ fleet, client, customers, findings }) => {
    lap('started')
    await new Promise((r) => setTimeout(r, 8000))
    const shop = await openShop(client, customers, { everyMs: 1500 })
    const off = process.argv[3]?.split(',') ?? []
    const w = {
      ...badWeather,
      ...(off.includes('crash') ? { crashMs: null } : {}),
      ...(off.includes('reorg') ? { reorgMs: null } : {}),
      ...(off.includes('kill') ? { killMs: null } : {}),
    }
    console.log(await storm(fleet, w, Number(process.argv[2] ?? 60) * 1000))
    lap('storm over')
    await shop.close()
    console.log(shop.refused(), customers.purchases.length)
    const f = await findings(240_000)
    lap('judged')
    for (const [k, v] of Object.entries(f)) console.log(k, v.length, v.slice(0, 12))
    for (const p of fleet.all) console.log(p.takeCrashes().map((s) => s.slice(0, 700)))
    const q = async (s: string) =>
      console.log(s.slice(0, 90), JSON.stringify(await fleet.database.query(s)).slice(0, 6000))
    await q('select * from cursors')
    await q('select * from pauses')
    await q("select * from alarms where subject not like 'unseen%'")
    await q('select state,purpose,network,count(*) from payouts group by 1,2,3')
    await q('select network,state,count(*) from transactions group by 1,2')
    await q(
      "select e.id,e.status,e.reason,e.next_check_at, clock_timestamp(), (select json_agg(x) from executions x where x.exchange_id=e.id) x, (select json_agg(x) from deposits x where x.exchange_id=e.id) d, (select json_agg(x) from payouts x where x.exchange_id=e.id) p from exchanges e where exists (select 1 from executions x where x.exchange_id=e.id and status not in ('finished','refunded','failed')) limit 3",
    )
    await q("select * from transactions where state='live' limit 3")
    await q(
      "select id,network,purpose,state,units,held_until,attention,created_at from payouts where state in ('reserved','signed') limit 5",
    )
    await q(
      'select j.task_id, attempts, max_attempts, locked_at, run_at, last_error from graphile_worker._private_jobs j where last_error is not null limit 20',
    )
  })
} catch (e) {
  console.error(e)
}
await ground.stop()
lap('ground stopped')
process.exit()
