import { Component, type ComponentChild, type FunctionComponent, h } from "preact";

/** A component that is drawn again only when `isSame` says that its properties differ. (Preact has this in `compat` only.) */
export function memo<P extends object>(
  view: (props: P) => ComponentChild,
  isSame: (before: P, after: P) => boolean,
): FunctionComponent<P> {
  const Inner = view as FunctionComponent<P>;
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return !isSame(this.props, next);
    }
    override render() {
      return h(Inner, this.props);
    }
  }
  return Memo as unknown as FunctionComponent<P>;
}
