"""Tools that cannot run here: their output as their documentation and sources show it, marked so."""
from common import *

def written(tool, name, command, code, output, facts, verdict=None, source=""):
    if only and not any(word in f"{tool}/{name}" for word in only): return
    text = re.sub(r"(?m)^ {8}", "", output).removeprefix("\n")
    keep(tool, name, command, code, [["o", text.encode()]], facts, project="", what=name, verdict=verdict, documented=source or "written by hand from the documented format")

def dotnet():
    fails = [test("Shop.Tests.CartTests.Adds", "/srv/project/shop/tests/CartTests.cs", 12, "Assert.Equal() Failure: Values differ"), test("Shop.Tests.CartTests.Throws", "/srv/project/shop/src/Cart.cs", 9, "System.InvalidOperationException : out of stock", places=[["src/Cart.cs", 9], ["tests/CartTests.cs", 18]])]
    written("dotnet", "failing", "dotnet test", 1, """
          Determining projects to restore...
          All projects are up-to-date for restore.
          Shop -> /srv/project/shop/src/bin/Debug/net8.0/Shop.dll
          Shop.Tests -> /srv/project/shop/tests/bin/Debug/net8.0/Shop.Tests.dll
        Test run for /srv/project/shop/tests/bin/Debug/net8.0/Shop.Tests.dll (.NETCoreApp,Version=v8.0)
        VSTest version 17.11.1 (x64)

        Starting test execution, please wait...
        A total of 1 test files matched the specified pattern.
        [xUnit.net 00:00:00.21]     Shop.Tests.CartTests.Adds [FAIL]
        [xUnit.net 00:00:00.22]     Shop.Tests.CartTests.Throws [FAIL]
          Failed Shop.Tests.CartTests.Adds [12 ms]
          Error Message:
           Assert.Equal() Failure: Values differ
        Expected: 5
        Actual:   -1
          Stack Trace:
             at Shop.Tests.CartTests.Adds() in /srv/project/shop/tests/CartTests.cs:line 12
           at System.RuntimeMethodHandle.InvokeMethod(Object target, Void** arguments, Signature sig, Boolean isConstructor)
           at System.Reflection.MethodBaseInvoker.InvokeWithNoArgs(Object obj, BindingFlags invokeAttr)
          Failed Shop.Tests.CartTests.Throws [2 ms]
          Error Message:
           System.InvalidOperationException : out of stock
          Stack Trace:
             at Shop.Cart.Take(Int32 count) in /srv/project/shop/src/Cart.cs:line 9
           at Shop.Tests.CartTests.Throws() in /srv/project/shop/tests/CartTests.cs:line 18
          Standard Output Messages:
         Failed NotMe [1 ms]

        Failed!  - Failed:     2, Passed:     3, Skipped:     1, Total:     6, Duration: 31 ms - Shop.Tests.dll (net8.0)
        """, fails)
    written("dotnet", "compile", "dotnet test", 1, """
          Determining projects to restore...
          All projects are up-to-date for restore.
        /srv/project/shop/src/Cart.cs(9,16): error CS0103: The name 'undefinedThing' does not exist in the current context [/srv/project/shop/src/Shop.csproj]
        /srv/project/shop/src/Cart.cs(5,13): warning CS0219: The variable 'unused' is assigned but its value is never used [/srv/project/shop/src/Shop.csproj]
        /srv/project/shop/src/Cart.cs(12,20): error CS0029: Cannot implicitly convert type 'string' to 'int' [/srv/project/shop/src/Shop.csproj]
        """, [diag("CS0103", "src/Cart.cs", 9, "The name 'undefinedThing' does not exist"), diag("CS0029", "src/Cart.cs", 12, "Cannot implicitly convert type 'string' to 'int'")], verdict="broken")
    written("dotnet", "build", "dotnet build", 1, """
        MSBuild version 17.8.3+195e7f5a3 for .NET
          Determining projects to restore...
        /srv/project/shop/src/Cart.cs(9,16): error CS0103: The name 'undefinedThing' does not exist in the current context [/srv/project/shop/src/Shop.csproj]

        Build FAILED.

        /srv/project/shop/src/Cart.cs(9,16): error CS0103: The name 'undefinedThing' does not exist in the current context [/srv/project/shop/src/Shop.csproj]
            0 Warning(s)
            1 Error(s)

        Time Elapsed 00:00:01.85
        """, [diag("CS0103", "src/Cart.cs", 9, "The name 'undefinedThing' does not exist")])
    written("dotnet", "no-project", "dotnet test", 1, """
        MSBUILD : error MSB1003: Specify a project or solution file. The current working directory does not contain a project or solution file.
        """, [], verdict="broken")
    written("dotnet", "green", "dotnet test", 0, """
        Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5, Duration: 12 ms - Shop.Tests.dll (net8.0)
        """, [])

def swift():
    written("swift", "xctest", "swift test", 1, """
        Building for debugging...
        Build complete! (2.31s)
        Test Suite 'All tests' started at 2026-11-16 01:02:03.456
        Test Suite 'CartTests' started at 2026-11-16 01:02:03.457
        Test Case 'CartTests.testAdds' started at 2026-11-16 01:02:03.457
        /srv/project/shop/Tests/ShopTests/CartTests.swift:8: error: CartTests.testAdds : XCTAssertEqual failed: ("-1") is not equal to ("5") - two prices
        Test Case 'CartTests.testAdds' failed (0.001 seconds)
        Test Case 'CartTests.testFine' started at 2026-11-16 01:02:03.458
        Test Case 'CartTests.testFine' passed (0.0 seconds)
        Test Case 'CartTests.testThrows' started at 2026-11-16 01:02:03.458
        <EXPR>:0: error: CartTests.testThrows : threw error "outOfStock"
        Test Case 'CartTests.testThrows' failed (0.0 seconds)
        Test Suite 'CartTests' failed at 2026-11-16 01:02:03.459
        \t Executed 3 tests, with 2 failures (1 unexpected) in 0.001 (0.001) seconds
        Test Suite 'All tests' failed at 2026-11-16 01:02:03.459
        \t Executed 3 tests, with 2 failures (1 unexpected) in 0.001 (0.001) seconds
        """, [test("CartTests.testAdds", "Tests/ShopTests/CartTests.swift", 8, 'XCTAssertEqual failed: ("-1") is not equal to ("5")'), test("CartTests.testThrows", msg="")])
    written("swift", "testing", "swift test", 1, """
        ◇ Test run started.
        ↳ Testing Library Version: 6.0.3
        ◇ Suite CartTests started.
        ◇ Test "adds two prices" started.
        ◇ Test fine() started.
        ✘ Test "adds two prices" recorded an issue at CartTests.swift:6:5: Expectation failed: (Cart().add(2, 3) → -1) == 5
        ↳ two prices
        ✔ Test fine() passed after 0.001 seconds.
        ✘ Test "adds two prices" failed after 0.001 seconds with 1 issue.
        ✘ Test throwing() recorded an issue at CartTests.swift:12:6: Caught error: .outOfStock
        ✘ Test throwing() failed after 0.001 seconds with 1 issue.
        ✘ Suite CartTests failed after 0.002 seconds with 2 issues.
        ✘ Test run with 3 tests failed after 0.002 seconds with 2 issues.
        """, [test("adds two prices", "CartTests.swift", 6, "Expectation failed: (Cart().add(2, 3) → -1) == 5"), test("throwing", "CartTests.swift", 12, "Caught error: .outOfStock")])
    written("swift", "compile", "swift build", 1, """
        Building for debugging...
        error: emit-module command failed with exit code 1 (use -v to see invocation)
        /srv/project/shop/Sources/Shop/Cart.swift:5:16: error: cannot convert return expression of type 'String' to return type 'Int'
        3 | public struct Cart {
        4 |     public func total() -> Int {
        5 |         return "zero"
          |                `- error: cannot convert return expression of type 'String' to return type 'Int'
        6 |     }
        7 | }
        """, [diag("", "Sources/Shop/Cart.swift", 5, "cannot convert return expression of type 'String' to return type 'Int'")])

def scala():
    written("scalatest", "failing", "sbt test", 1, """
        [info] welcome to sbt 1.10.5 (Eclipse Adoptium Java 17.0.13)
        [info] loading project definition from /srv/project/shop/project
        [info] set current project to shop (in build file:/srv/project/shop/)
        [info] CartSpec:
        [info] Cart
        [info] - should add two prices *** FAILED ***
        [info]   -1 did not equal 5 (CartSpec.scala:8)
        [info] - should keep zero
        [info] - should refuse nothing *** FAILED ***
        [info]   java.lang.IllegalArgumentException: out of stock
        [info]   at shop.Cart.take(Cart.scala:7)
        [info]   at shop.CartSpec.$anonfun$new$3(CartSpec.scala:16)
        [info] - should be for later !!! IGNORED !!!
        [info] Run completed in 312 milliseconds.
        [info] Total number of tests run: 3
        [info] Suites: completed 1, aborted 0
        [info] Tests: succeeded 1, failed 2, canceled 0, ignored 1, pending 0
        [info] *** 2 TESTS FAILED ***
        [error] Failed tests:
        [error] \tCartSpec
        [error] (Test / test) sbt.TestsFailedException: Tests unsuccessful
        [error] Total time: 3 s, completed Nov 16, 2026, 1:02:03 AM
        """, [test("should add two prices", "CartSpec.scala", 8, "-1 did not equal 5"), test("should refuse nothing", "Cart.scala", 7, "java.lang.IllegalArgumentException: out of stock", places=[["Cart.scala", 7], ["CartSpec.scala", 16]])])
    written("scalatest", "compile", "sbt test", 1, """
        [info] compiling 1 Scala source to /srv/project/shop/target/scala-2.13/classes ...
        [error] /srv/project/shop/src/main/scala/shop/Cart.scala:4:22: type mismatch;
        [error]  found   : String("zero")
        [error]  required: Int
        [error]   def total: Int = "zero"
        [error]                    ^
        [error] one error found
        [error] (Compile / compileIncremental) Compilation failed
        [error] Total time: 2 s, completed Nov 16, 2026, 1:02:03 AM
        """, [diag("", "src/main/scala/shop/Cart.scala", 4, "type mismatch;")], verdict="broken")
    written("scalatest", "munit", "sbt test", 1, """
        shop.CartSuite:
        ==> X shop.CartSuite.adds two prices  0.012s munit.ComparisonFailException: /srv/project/shop/src/test/scala/shop/CartSuite.scala:6
        5:  test("adds two prices") {
        6:    assertEquals(Cart.add(2, 3), 5)
        7:  }
        values are not the same
          + keeps zero 0.001s
        [error] Failed: Total 2, Failed 1, Errors 0, Passed 1
        [error] Failed tests:
        [error] \tshop.CartSuite
        [error] (Test / test) sbt.TestsFailedException: Tests unsuccessful
        """, [test("shop.CartSuite.adds two prices", "CartSuite.scala", 6, "munit.ComparisonFailException")])

def gradle():
    written("gradle", "kotlin-tests", "./gradlew test", 1, """
        > Task :compileKotlin UP-TO-DATE
        > Task :compileTestKotlin

        > Task :test FAILED

        CartTest > adds two prices() FAILED
            org.opentest4j.AssertionFailedError at CartTest.kt:9

        CartTest > throws() FAILED
            java.lang.IllegalStateException at CartTest.kt:14

        3 tests completed, 2 failed

        FAILURE: Build failed with an exception.

        * What went wrong:
        Execution failed for task ':test'.
        > There were failing tests. See the report at: file:///srv/project/shop/build/reports/tests/test/index.html

        BUILD FAILED in 4s
        """, [test("adds two prices()", "CartTest.kt", 9, "org.opentest4j.AssertionFailedError"), test("throws()", "CartTest.kt", 14, "java.lang.IllegalStateException")])
    written("gradle", "kotlin-compile", "./gradlew build", 1, """
        > Task :compileKotlin FAILED
        e: file:///srv/project/shop/src/main/kotlin/Cart.kt:3:22 Unresolved reference 'undefinedThing'.
        e: file:///srv/project/shop/src/main/kotlin/Cart.kt:5:9 Type mismatch: inferred type is String but Int was expected
        w: file:///srv/project/shop/src/main/kotlin/Cart.kt:7:9 Variable 'unused' is never used

        FAILURE: Build failed with an exception.

        * What went wrong:
        Execution failed for task ':compileKotlin'.
        > A failure occurred while executing org.jetbrains.kotlin.compilerRunner.GradleCompilerRunnerWithWorkers$GradleKotlinCompilerWorkAction
           > Compilation error. See log for more details

        BUILD FAILED in 2s
        """, [diag("", "src/main/kotlin/Cart.kt", 3, "Unresolved reference 'undefinedThing'."), diag("", "src/main/kotlin/Cart.kt", 5, "Type mismatch: inferred type is String but Int was expected")], verdict="broken")

def php():
    written("pest", "failing", "./vendor/bin/pest", 1, """

           FAIL  Tests\\Unit\\CartTest
          ⨯ it adds two prices                                                   0.03s
          ✓ it keeps zero
          ⨯ it throws                                                            0.01s
          - it is for later → later

          ────────────────────────────────────────────────────────────────────────────
           FAILED  Tests\\Unit\\CartTest > it adds two prices
          Failed asserting that -1 is identical to 5.

          at tests/Unit/CartTest.php:6
              2▕
              3▕ use App\\Cart;
              4▕
              5▕ it('adds two prices', function () {
          ➜   6▕     expect(Cart::add(2, 3))->toBe(5);
              7▕ });

          1   tests/Unit/CartTest.php:6

          ────────────────────────────────────────────────────────────────────────────
           FAILED  Tests\\Unit\\CartTest > it throws              RuntimeException
          out of stock

          at app/Cart.php:12
              8▕     }
          ➜  12▕         throw new RuntimeException('out of stock');

          1   app/Cart.php:12
          2   tests/Unit/CartTest.php:14


          Tests:    2 failed, 1 skipped, 1 passed (3 assertions)
          Duration: 0.09s

        """, [test("it adds two prices", "tests/Unit/CartTest.php", 6, "Failed asserting that -1 is identical to 5."), test("it throws", "app/Cart.php", 12, "out of stock", places=[["app/Cart.php", 12], ["tests/Unit/CartTest.php", 14]])])
    written("pest", "green", "./vendor/bin/pest", 0, """

           PASS  Tests\\Unit\\CartTest
          ✓ it keeps zero

          Tests:    1 passed (1 assertions)
          Duration: 0.05s

        """, [])
    written("phpstan", "table", "vendor/bin/phpstan analyse src", 1, """
         2/2 [▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓] 100%

         ------ -----------------------------------------------------------------
          Line   src/Cart.php
         ------ -----------------------------------------------------------------
          7      Method App\\Cart::total() should return int but returns string.
                 🪪  return.type
          12     Undefined variable: $undefinedThing
                 🪪  variable.undefined
                 💡 Learn more at https://phpstan.org/
         ------ -----------------------------------------------------------------

         ------ -----------------------------------------------------------------
          Line   src/Order.php (in context of class App\\Order)
         ------ -----------------------------------------------------------------
          :3     Class App\\Nowhere not found.
          21     Parameter #1 $items of method App\\Cart::sum() expects array<int>,
                 array<string> given.
                 🪪  argument.type
         ------ -----------------------------------------------------------------

         [ERROR] Found 4 errors

        """, [diag("return.type", "src/Cart.php", 7, "Method App\\Cart::total() should return int"), diag("variable.undefined", "src/Cart.php", 12, "Undefined variable: $undefinedThing"), diag("", "src/Order.php", 3, "Class App\\Nowhere not found."), diag("argument.type", "src/Order.php", 21, "Parameter #1 $items of method App\\Cart::sum() expects array<int>, array<string> given.")])
    written("phpstan", "raw", "vendor/bin/phpstan analyse --error-format=raw src", 1, """
        /srv/project/shop/src/Cart.php:7:Method App\\Cart::total() should return int but returns string.
        /srv/project/shop/src/Cart.php:12:Undefined variable: $undefinedThing
        """, [diag("", "src/Cart.php", 7, "Method App\\Cart::total() should return int"), diag("", "src/Cart.php", 12, "Undefined variable: $undefinedThing")])
    written("phpstan", "green", "vendor/bin/phpstan analyse", 0, """

         [OK] No errors

        """, [])

def infrastructure():
    written("terraform", "plain", "terraform validate -no-color", 1, """

        Error: Unsupported argument

          on main.tf line 3, in resource "aws_s3_bucket" "b":
           3:   nme = "x"

        An argument named "nme" is not expected here. Did you mean "name"?

        Error: Reference to undeclared resource

          on outputs.tf line 2, in output "id":
           2:   value = aws_instance.web.id

        A managed resource "aws_instance" "web" has not been declared in the root module.
        """, [diag("", "main.tf", 3, "Unsupported argument"), diag("", "outputs.tf", 2, "Reference to undeclared resource")])
    written("terraform", "boxed", "terraform validate", 1, """
        ╷
        │ Warning: Deprecated attribute
        │
        │   on main.tf line 9, in resource "x" "y":
        │    9:   old = 1
        │
        │ Use new instead.
        ╵
        ╷
        │ Error: Unsupported argument
        │
        │   on modules/net/main.tf line 3, in resource "x" "y":
        │    3:   nme = 1
        │
        │ An argument named "nme" is not expected here.
        ╵
        ╷
        │ Error: Missing required provider
        │
        │ This configuration requires provider registry.terraform.io/hashicorp/aws,
        │ but that provider isn't available.
        ╵
        """, [diag("", "modules/net/main.tf", 3, "Unsupported argument"), diag("provider", "", msg="Missing required provider")])
    written("terraform", "green", "terraform validate", 0, """
        Success! The configuration is valid.
        """, [])
    written("actionlint", "plain", "actionlint", 1, """
        .github/workflows/ci.yml:3:5: unexpected key "branch" for "push" section. expected one of "branches", "branches-ignore", "paths" [syntax-check]
          |
        3 |     branch: main
          |     ^~~~~~~
        .github/workflows/ci.yml:10:28: label "linux-latest" is unknown. available labels are "ubuntu-latest" [runner-label]
           |
        10 |     runs-on: linux-latest
           |              ^~~~~~~~~~~~
        .github/workflows/ci.yml:13:9: shellcheck reported issue in this script: SC2086:info:1:6: Double quote to prevent globbing and word splitting [shellcheck]
           |
        13 |         run: echo $FOO
           |         ^~~~
        .github/workflows/ci.yml:14:20: undefined variable "matrx". available variables are "env", "github", "matrix" [expression]
           |
        14 |         if: ${{ matrx.os == 'x' }}
           |                 ^~~~~~~~
        """, [diag("syntax-check", ".github/workflows/ci.yml", 3, 'unexpected key "branch" for "push" section.'), diag("runner-label", ".github/workflows/ci.yml", 10, 'label "linux-latest" is unknown.'), diag("shellcheck", ".github/workflows/ci.yml", 13, "shellcheck reported issue in this script: SC2086"), diag("expression", ".github/workflows/ci.yml", 14, 'undefined variable "matrx".')])
    written("actionlint", "oneline", "actionlint -oneline", 1, """
        .github/workflows/ci.yml:3:5: unexpected key "branch" for "push" section. expected one of "branches", "branches-ignore", "paths" [syntax-check]
        """, [diag("syntax-check", ".github/workflows/ci.yml", 3, 'unexpected key "branch" for "push" section.')])

def cypress():
    written("cypress", "failing", "cypress run", 2, """

        ====================================================================================================

          (Run Starting)

          ┌────────────────────────────────────────────────────────────────────────────────────────────────┐
          │ Cypress:        13.15.0                                                                        │
          │ Browser:        Electron 118 (headless)                                                        │
          │ Specs:          1 found (cart.cy.js)                                                           │
          └────────────────────────────────────────────────────────────────────────────────────────────────┘


        ────────────────────────────────────────────────────────────────────────────────────────────────────

          Running:  cart.cy.js                                                                      (1 of 1)


          cart
            1) adds two prices
            ✓ keeps zero (12ms)
            when full
              2) shows a notice


          1 passing (4s)
          2 failing

          1) cart
               adds two prices:
             AssertionError: expected -1 to equal 5
              at Context.eval (webpack:///./cypress/e2e/cart.cy.js:4:24)

          2) cart
               when full
                 shows a notice:
             AssertionError: Timed out retrying after 4000ms: Expected to find element: `.notice`, but never found it.
              at Context.eval (webpack:///./cypress/e2e/cart.cy.js:11:9)




          (Results)

          ┌────────────────────────────────────────────────────────────────────────────────────────────────┐
          │ Tests:        3                                                                                │
          │ Passing:      1                                                                                │
          │ Failing:      2                                                                                │
          └────────────────────────────────────────────────────────────────────────────────────────────────┘


        ====================================================================================================

          (Run Finished)


               Spec                                              Tests  Passing  Failing  Pending  Skipped
          ┌────────────────────────────────────────────────────────────────────────────────────────────────┐
          │ ✖  cart.cy.js                               00:04        3        1        2        -        - │
          └────────────────────────────────────────────────────────────────────────────────────────────────┘
            ✖  1 of 1 failed (100%)                     00:04        3        1        2        -        -

        """, [test("adds two prices", "cypress/e2e/cart.cy.js", 4, "AssertionError: expected -1 to equal 5"), test("shows a notice", "cypress/e2e/cart.cy.js", 11, "AssertionError: Timed out retrying after 4000ms")])

if __name__ == "__main__":
    for recipe in (dotnet, swift, scala, gradle, php, infrastructure, cypress): recipe()
