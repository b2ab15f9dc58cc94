import { render } from "preact";
import { App } from "./app.tsx";
import { follow, readAddress } from "./state.ts";
import "./style.css";

readAddress();
render(<App />, document.getElementById("app") as HTMLElement);
follow();
