import { HashLink } from './hash-link.tsx'

export type Step = Readonly<{
  title: string
  state: 'done' | 'current' | 'todo' | 'problem'
  text?: string | undefined
  /** A transaction, with its page in the explorer. */
  hash?: string | null | undefined
  href?: string | undefined
  progress?: Readonly<{ seen: number; required: number }> | undefined
}>

const marks: Readonly<Record<Step['state'], string>> = { done: '✓', current: '', todo: '', problem: '!' }
const names: Readonly<Record<Step['state'], string>> = {
  done: 'done',
  current: 'now',
  todo: 'to come',
  problem: 'needs attention',
}

/** Steps from top to bottom, each with what is known about it. */
export function StepList({ steps }: { steps: readonly Step[] }) {
  return (
    <ol className="steps">
      {steps.map((step, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps keep their places, and two may have one title
        <li key={at} className={step.state} aria-current={step.state === 'current' ? 'step' : undefined}>
          <span className="mark" aria-hidden="true">
            {marks[step.state]}
          </span>
          <div>
            <h3>
              {step.title} <span className="unseen">({names[step.state]})</span>
            </h3>
            {step.text === undefined ? null : <p>{step.text}</p>}
            {step.progress === undefined || step.state === 'done' ? null : (
              <progress value={step.progress.seen} max={step.progress.required} aria-label={step.title} />
            )}
            <Hash step={step} />
          </div>
        </li>
      ))}
    </ol>
  )
}

function Hash({ step: { hash, href } }: { step: Step }) {
  if (hash === undefined || hash === null) return null
  if (href === undefined) return <code>{hash}</code>
  return <HashLink hash={hash} href={href} />
}
