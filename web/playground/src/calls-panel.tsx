import { useState, useSyncExternalStore } from 'react'
import { type Call, toCurl } from './call-log.ts'
import { API_KEY, callLog } from './client.ts'

/** Longer answers, such as the list of currencies, are cut. */
const SHOWN_MAX = 20_000

/** Every call of the page, the newest first. */
export function CallsPanel() {
  const calls = useSyncExternalStore(callLog.subscribe, callLog.read)
  return (
    <section className="panel calls" aria-labelledby="calls">
      <div className="panel-head">
        <h2 id="calls">API calls</h2>
        <button type="button" className="quiet-button" onClick={callLog.clear}>
          Clear
        </button>
      </div>
      {calls.length === 0 ? <p className="quiet">Each call appears here as it is made.</p> : null}
      <ol className="call-list">
        {calls.map((call) => (
          <CallItem key={call.id} call={call} />
        ))}
      </ol>
    </section>
  )
}

function CallItem({ call }: { call: Call }) {
  const [isOpen, setOpen] = useState(false)
  const [path = '', query] = call.path.split('?')
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span className={`method ${call.method.toLowerCase()}`}>{call.method}</span>
          <span className="call-path">{path}</span>
          <Outcome call={call} />
        </summary>
        {isOpen ? <CallDetails call={call} query={query} /> : null}
      </details>
    </li>
  )
}

function Outcome({ call: { status, response, elapsedMs, count } }: { call: Call }) {
  const tone = status === null ? (response === null ? 'wait' : 'bad') : status < 400 ? 'good' : 'bad'
  return (
    <span className="outcome">
      {count > 1 ? <span className="quiet">×{count} </span> : null}
      <span className={tone}>{status ?? (response === null ? '…' : 'no answer')}</span>
      {elapsedMs === null ? null : <span className="quiet"> {elapsedMs} ms</span>}
    </span>
  )
}

function CallDetails({ call, query }: { call: Call; query: string | undefined }) {
  const members = [...new URLSearchParams(query)]
  return (
    <div className="call-details">
      {members.length > 0 ? (
        <dl className="query">
          {members.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      ) : null}
      {call.request === null ? null : <Body name="Request" text={call.request} />}
      {call.response === null ? null : <Body name="Response" text={call.response} />}
      <div className="row">
        <CopyButton text={toCurl(call, location.origin, API_KEY)} />
        <span className="quiet">{call.at.toLocaleTimeString()}</span>
      </div>
    </div>
  )
}

function Body({ name, text }: { name: string; text: string }) {
  const shown = format(text)
  return (
    <>
      <p className="body-name">{name}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        {shown.slice(0, SHOWN_MAX)}
        {shown.length > SHOWN_MAX ? `\n… ${shown.length - SHOWN_MAX} further characters` : ''}
      </pre>
    </>
  )
}

function CopyButton({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return (
    <button type="button" className="quiet-button" onClick={() => void copy()}>
      {isCopied ? 'Copied' : 'Copy as curl'}
    </button>
  )
}

function format(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
