//! The examples run.

mod one_run {
    include!("../examples/one_run.rs");

    #[test]
    fn it_runs() {
        main().expect("an answer");
    }
}

mod sweep {
    include!("../examples/sweep.rs");

    #[test]
    fn it_runs() {
        main().expect("an answer");
    }
}

mod own_controller {
    include!("../examples/own_controller.rs");

    #[test]
    fn it_runs() {
        main().expect("an answer");
        assert!(main().expect_err("the name is taken").complaints[0].found.contains("\"sqrt\" already"));
    }
}

mod own_sizer {
    include!("../examples/own_sizer.rs");

    #[test]
    fn it_runs() {
        main().expect("an answer");
    }
}
